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
 * feels. What is left is written when the process exits; only a SIGKILL loses the last few lines.
 */
function standardOutput(): { write(line: string): void } {
  return pino.destination({ dest: 1, sync: false, maxLength: MAX_UNWRITTEN_BYTES })
}

/**
 * The service's logger: JSON, one wide line per unit of work, every line through the mask.
 * @param destination where lines go; standard output when left out
 */
export function createLogger(
  service: string,
  level: string,
  destination: { write(line: string): void } = standardOutput(),
): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { error: pino.stdSerializers.errWithCause },
      errorKey: 'error',
    },
    { write: (line: string) => void destination.write(maskSecrets(line)) },
  )
}
