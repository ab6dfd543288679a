/**
 * The beginning of a cell that spreadsheet programs run as a formula (OWASP, "CSV Injection"; ASVS 1.2.10): a sign, also in full width, or
 * after invisible characters, which some programs remove. In some countries a semicolon or a tab separates cells, and quotes inside of
 * such a cell do not count, so a line break begins a cell too.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?:(?![;\t\r\n])[\s\p{C}])*[=+\-@＝＋－＠﹦﹢﹣﹫]/gu
/** Programs may remove such a beginning, and read the rest as the cell. */
const REMOVED_BEGINNING = /^[\t\r\n\0]/

/** Writes one line of a CSV file (RFC 4180). Lists and objects become JSON text, and null becomes an empty field. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\r\n`
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  const isPlain = typeof value === 'number' || typeof value === 'boolean'
  const text = isPlain ? String(value) : withoutFormula(typeof value === 'string' ? value : JSON.stringify(value))
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Spreadsheet programs show the apostrophe as a part of the text, and run nothing. */
function withoutFormula(text: string): string {
  const safe = text.replaceAll(FORMULA, "'$&")
  return REMOVED_BEGINNING.test(safe) ? `'${safe}` : safe
}
