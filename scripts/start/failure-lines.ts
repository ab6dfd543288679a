/** Picks the lines of a service's log that explain a failure: pure. */

/** The fields of a log line (packages/kit/src/logger.ts) that are used here. */
interface LogLine {
  level: string
  msg: string
  error?: string | { message?: string }
}

const LONGEST = 200

/**
 * The last warnings and errors, shortened, and lines that are no JSON: a configuration fault, a stack trace. Lines of level info
 * and below are left out.
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
