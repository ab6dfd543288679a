import kafkajs, { type logCreator } from 'kafkajs'
import type { Logger } from '../logger.ts'

/**
 * Routes kafkajs's own log lines to ours, one level lower than it asks for: what it calls an error is mostly one try of
 * many, and what it cannot mend reaches us as a rejection, which we log ourselves.
 */
export function kafkajsLogs(logger: Logger): logCreator {
  const lines = logger.child({ component: 'kafkajs' })
  return () => entry => {
    // Timestamp and logger name repeat what our own line says already.
    const { message, timestamp: _timestamp, logger: _logger, stack: _stack, ...facts } = entry.log
    const line = { namespace: entry.namespace, ...facts }
    if (entry.level === kafkajs.logLevel.ERROR) lines.warn(line, message)
    else if (entry.level === kafkajs.logLevel.WARN) lines.info(line, message)
    else lines.debug(line, message)
  }
}
