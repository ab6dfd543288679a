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

/**
 * The service's logger: JSON, one wide line per unit of work, every line through the mask.
 * @param destination where lines go; standard output when left out
 */
export function createLogger(
  service: string,
  level: string,
  destination: { write(line: string): void } = process.stdout,
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
