/** Selects the lines of a service's log that explain a failure. Pure. */

/** The fields of a log line (packages/kit/src/logger.ts) that this file uses. */
interface LogLine {
  level: string
  msg: string
  error?: string | { message?: string }
}

const MAX_LINE_LENGTH = 200

/**
 * The last warnings and errors in short form, and lines that are no JSON, e.g. a configuration error or a stack trace. Lines of
 * level info and below are left out.
 * @param count the largest number of lines
 */
export function failureLines(lines: readonly string[], count: number): string[] {
  const found = lines.map(shorten).filter(line => line !== undefined)
  const withoutRepeats = found.filter((line, index) => line !== found[index - 1])
  return withoutRepeats
    .slice(-count)
    .map(line => (line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line))
}

function shorten(line: string): string | undefined {
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
