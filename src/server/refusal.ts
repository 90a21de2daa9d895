/** Returns an error of the server itself, with OpenAI's error body. */
export function refusal(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const ofRequest = status === 401 ? "authentication_error" : "invalid_request_error";
  const type = status < 500 ? ofRequest : "server_error";
  return Response.json({ error: { message, type, param: null, code } }, { status, headers });
}
