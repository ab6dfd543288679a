/** Truncates the text to `limit` UTF-16 units, which is never more than `limit` characters. Divides no character. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
