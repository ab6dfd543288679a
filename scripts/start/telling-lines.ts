/** What a person needs of a service's log when something went wrong: pure. */

/** One line of a service's log (packages/kit/src/logger.ts), as far as it matters here. */
interface LogLine {
  level: string
  msg: string
  error?: string | { message?: string }
}

const LONGEST = 200

/**
 * The last warnings and errors, in short, and what is no log line: a configuration fault, a stack trace. The ordinary
 * lines in between would only push these off the screen.
 * @param count how many at most
 */
export function tellingLines(lines: readonly string[], count: number): string[] {
  const telling = lines.map(tell).filter(line => line !== undefined)
  const withoutRepeats = telling.filter((line, index) => line !== telling[index - 1])
  return withoutRepeats.slice(-count).map(line => (line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line))
}

function tell(line: string): string | undefined {
  const parsed = parse(line)
  if (parsed === undefined) return line.trim() === '' ? undefined : line
  if (parsed.level === 'info' || parsed.level === 'debug' || parsed.level === 'trace') return undefined
  const error = typeof parsed.error === 'string' ? parsed.error : parsed.error?.message
  return error === undefined ? `${parsed.level} ${parsed.msg}` : `${parsed.level} ${parsed.msg}: ${error}`
}

function parse(line: string): LogLine | undefined {
  try {
    const parsed = JSON.parse(line) as Partial<LogLine> | null
    return typeof parsed?.level === 'string' ? { ...parsed, level: parsed.level, msg: parsed.msg ?? '' } : undefined
  } catch {
    return undefined
  }
}
