import kafkajs, { type logCreator } from 'kafkajs'
import type { Logger } from '../../logger.ts'

/**
 * Writes kafkajs's log lines to the service's log, one level lower: most of its errors are single attempts, and a final
 * failure is a rejection that the service logs itself.
 */
export function kafkajsLogs(logger: Logger): logCreator {
  const lines = logger.child({ component: 'kafkajs' })
  return () => entry => {
    // The service's log line already has a timestamp.
    const { message, timestamp: _timestamp, logger: _logger, stack: _stack, ...facts } = entry.log
    const line = { namespace: entry.namespace, ...facts }
    if (entry.level === kafkajs.logLevel.ERROR) lines.warn(line, message)
    else if (entry.level === kafkajs.logLevel.WARN) lines.info(line, message)
    else lines.debug(line, message)
  }
}
