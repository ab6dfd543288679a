import { type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger

/** What a secret looks like when it slips into a message or an error text: masked whatever field it stands in. */
const SECRET_SHAPES = [
  /\b(whsec|pdl_ntfset|bsk|rk_live|rk_test|sk_live|sk_test|pdl_live_apikey|pdl_sdbx_apikey)_[\w+/=-]+/g,
  /\b(Basic|Bearer) [\w+/=.~-]{8,}/g,
  /hooks\.slack(?:-gov)?\.com\/services\/[\w/-]+/g,
  /\b(mongodb(?:\+srv)?|smtps?|https?|amqp):\/\/[^\s/@:"\\]*:[^\s/@"\\]+@/g,
]

/** Replaces everything that has the shape of a known secret by `[secret]`. */
export function maskSecrets(text: string): string {
  let masked = text
  for (const shape of SECRET_SHAPES) masked = masked.replace(shape, '[secret]')
  return masked
}

/** What waits for a standard output that nobody reads: beyond it lines are dropped, as they must not stop the service. */
const MAX_UNWRITTEN_BYTES = 8 * 1_048_576

/**
 * Standard output, written beside the work: while one write is under way, lines gather for the next, which a busy service
 * feels. What is left is written when the process exits; what ends it without that, a SIGKILL or an abort of V8 (out of
 * memory), loses the last few lines.
 * @param onDropped told, once all that waited is written, how many lines were dropped meanwhile
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
  // A log that cannot be written (a full disk) must not end the service, which is worth more than its log: without a
  // listener it would. What was not written waits, and is tried again with the next line; but not when the process exits,
  // where sonic-boom 4 would try for ever.
  output.on('error', () => {
    output.flushSync = () => {}
  })
  output.on('write', () => {
    output.flushSync = flushSync
  })
  return output
}

/**
 * The service's logger: JSON, one wide line per unit of work, every line through the mask.
 * @param destination where lines go; standard output when left out
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
