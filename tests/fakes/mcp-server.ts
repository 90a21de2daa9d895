/** The smallest server of the Model Context Protocol over HTTP: one tool, no sessions, no streams. */
export async function answerMcp(request: Request): Promise<Response> {
  const headers = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers });
  if (request.method !== "POST") return new Response(null, { status: 405, headers });
  const { id, method, params } = await request.json();
  if (id === undefined) return new Response(null, { status: 202, headers });
  const result = resultOf(method, params);
  const error = { code: -32_601, message: `no method ${method}` };
  return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }, { headers });
}

function resultOf(method: string, params: { protocolVersion?: string; arguments?: { city?: string } }): object | null {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "weather", version: "1" } };
  }
  if (method === "tools/call") return { content: [{ type: "text", text: `Rain in ${params.arguments?.city}.` }] };
  if (method !== "tools/list") return null;
  const inputSchema = {
    type: "object",
    properties: { city: { type: "string", enum: ["Paris", "Oslo"] } },
    required: ["city"],
    additionalProperties: false,
  };
  return { tools: [{ name: "weather", description: "Of a city.", inputSchema }] };
}
