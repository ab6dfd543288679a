/**
 * All values of the named headers, in order of arrival. Reads the raw list, because Node.js drops repeated values of
 * some headers (Authorization) and joins those of others, and a repeated credential must be detected to be refused.
 * @param rawHeaders alternating names and values, as in http.IncomingMessage
 * @param names lower-case names
 */
export function headerValuesOf(rawHeaders: readonly string[], names: ReadonlySet<string>): string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (names.has((rawHeaders[at] as string).toLowerCase())) values.push(rawHeaders[at + 1] as string)
  }
  return values
}
