/**
 * All values of the named headers, in order of arrival. It reads the raw list, because Node drops repeated values of some headers (Authorization) and
 * joins those of others; a repeated credential must be visible to be refused.
 * @param rawHeaders names and values in turn, as http.IncomingMessage has them
 * @param names in lower case
 */
export function headerValuesOf(rawHeaders: readonly string[], names: ReadonlySet<string>): string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (names.has((rawHeaders[at] as string).toLowerCase())) values.push(rawHeaders[at + 1] as string)
  }
  return values
}
