/** Returns a PDF of one page. @param content of the page: `BT /F1 12 Tf (Hello) Tj ET` @param encrypt its dictionary, if it is encrypted */
export function smallPdf(content: string, encrypt = ""): string {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    // Its characters are numbered as a Japanese standard does: they are known with that standard's map only.
    "<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /90ms-RKSJ-H /DescendantFonts [7 0 R] >>",
    "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor 8 0 R >>",
    "<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
    ...(encrypt ? [encrypt] : []),
  ];
  let pdf = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const id = "<00112233445566778899aabbccddeeff>";
  const trailer = `<< /Size ${objects.length + 1} /Root 1 0 R /ID [${id} ${id}] ${encrypt ? `/Encrypt ${objects.length} 0 R ` : ""}>>`;
  return `${pdf}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}trailer\n${trailer}\nstartxref\n${pdf.length}\n%%EOF\n`;
}
