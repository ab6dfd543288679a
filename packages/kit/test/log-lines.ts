import { createLogger, type Logger } from '../src/logger.ts'

/** A logger that collects its lines for a test. */
export function createCollectingLogger(): {
  logger: Logger
  messages: () => string[]
  count: (message: string) => number
} {
  const lines: { msg: string }[] = []
  const logger = createLogger('test', 'debug', { write: line => void lines.push(JSON.parse(line)) })
  const messages = () => lines.map(({ msg }) => msg)
  return { logger, messages, count: message => messages().filter(other => other === message).length }
}
