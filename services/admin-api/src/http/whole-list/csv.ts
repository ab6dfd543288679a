/** Text with this beginning is run as a formula by spreadsheet programs (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/

/** Writes one line of a CSV file (RFC 4180). Lists and objects become JSON text, and null becomes an empty field. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\r\n`
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? withoutFormula(value) : JSON.stringify(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Spreadsheet programs show the apostrophe as a part of the text, and run nothing. */
function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
