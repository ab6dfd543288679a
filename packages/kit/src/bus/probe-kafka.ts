import { waitUntilSettled, withDeadline } from '../clock/with-deadline.ts'
import { findRefusal } from '../credentials/refusal.ts'
import { judgeServers, PROBE_WITHIN_MS, type ServerOutcome, type Verdict } from '../credentials/verdict.ts'
import { createLogger } from '../logger.ts'
import { createKafkajsClient, type KafkaConnection } from './kafkajs-client.ts'

const CONNECT_MS = 4_000
const CLEAN_UP_MS = 1_000

/**
 * Tries the credentials at each bootstrap broker with a client of its own, because kafkajs does not try the next broker after
 * one that refuses. It ends when one broker accepts them, or when all have failed.
 */
export async function probeKafka(connection: Pick<KafkaConnection, 'brokers' | 'tls' | 'sasl'>): Promise<Verdict> {
  const { promise, resolve } = Promise.withResolvers<Verdict>()
  const attempts = connection.brokers.map(async broker => {
    const outcome = await tryBroker({ ...connection, brokers: [broker] })
    if (outcome === 'accepted') resolve({ kind: 'accepted' })
    return outcome
  })
  void Promise.all(attempts).then(outcomes => resolve(judgeServers(outcomes)))
  return promise
}

async function tryBroker({
  brokers,
  tls,
  sasl,
}: Pick<KafkaConnection, 'brokers' | 'tls' | 'sasl'>): Promise<ServerOutcome> {
  const logger = createLogger('credentials', 'silent')
  const client = createKafkajsClient(
    {
      brokers,
      clientId: 'backstop-credentials',
      logger,
      tls,
      sasl,
      connectionTimeoutMs: CONNECT_MS,
      requestTimeoutMs: PROBE_WITHIN_MS,
    },
    // The retry is for a broker that ends a connection, for example because it stops.
    { retries: 1, initialRetryTime: 50, maxRetryTime: 50 },
  )
  const admin = client.admin()
  // It ends with an answer of the broker: to the login, or to the request for its versions.
  const outcome = withDeadline(admin.connect(), PROBE_WITHIN_MS, () => new Error('No answer in time')).then(
    () => 'accepted' as const,
    (error: unknown) => findRefusal(error) ?? 'no_answer',
  )
  return outcome.finally(() => void waitUntilSettled(admin.disconnect(), CLEAN_UP_MS))
}
