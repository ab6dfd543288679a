import { type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger

/** Patterns of secrets, which are masked in every field of a log line. */
const SECRET_SHAPES = [
  /\b(whsec|pdl_ntfset|bsk|rk_live|rk_test|sk_live|sk_test|pdl_live_apikey|pdl_sdbx_apikey)_[\w+/=-]+/g,
  /\b(Basic|Bearer) [\w+/=.~-]{8,}/g,
  /hooks\.slack(?:-gov)?\.com\/services\/[\w/-]+/g,
  /\bdiscord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/[\w/-]+/g,
  /\bsig=[\w%+/=.~-]{16,}/g,
  /\b(mongodb(?:\+srv)?|smtps?|https?|amqp):\/\/[^\s/@:"\\]*:[^\s/@"\\]+@/g,
]

/** Replaces text that matches the pattern of a known secret with `[secret]`. */
export function maskSecrets(text: string): string {
  let masked = text
  for (const shape of SECRET_SHAPES) masked = masked.replace(shape, '[secret]')
  return masked
}

/**
 * Maximum number of bytes that wait while standard output is not read. Beyond it, lines are dropped, so that the log
 * does not block the service.
 */
const MAX_UNWRITTEN_BYTES = 8 * 1_048_576

/**
 * Standard output, written asynchronously: lines logged during one write are part of the next, which is faster. The
 * remaining lines are written at exit; a SIGKILL or an abort of V8 (out of memory) loses them.
 * @param onDropped called with the number of dropped lines when all waiting lines are written
 */
function standardOutput(onDropped: (lines: number) => void): { write(line: string): void } {
  const output = pino.destination({ dest: 1, sync: false, maxLength: MAX_UNWRITTEN_BYTES })
  const { flushSync } = output
  let dropped = 0
  output.on('drop', () => {
    dropped += 1
  })
  output.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    onDropped(lines)
  })
  // Without a listener, a failed write (a full disk) would end the service. Unwritten lines are retried with the next
  // line, but not at exit, when sonic-boom 4 would retry without end.
  output.on('error', () => {
    output.flushSync = () => {}
  })
  output.on('write', () => {
    output.flushSync = flushSync
  })
  return output
}

/**
 * The service's logger: JSON, one line per unit of work, with masked secrets.
 * @param destination standard output by default
 */
export function createLogger(service: string, level: string, destination?: { write(line: string): void }): Logger {
  const output = destination ?? standardOutput(lines => logger.error({ lines }, 'log.lines_dropped'))
  const logger: Logger = pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { error: pino.stdSerializers.errWithCause },
      errorKey: 'error',
    },
    { write: (line: string) => void output.write(maskSecrets(line)) },
  )
  return logger
}
