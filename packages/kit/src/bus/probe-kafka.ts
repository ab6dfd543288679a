import { lookup } from 'node:dns/promises'
import { waitUntilSettled, withDeadline } from '../clock/with-deadline.ts'
import { findRefusal } from '../credentials/refusal.ts'
import { judgeServers, PROBE_WITHIN_MS, type ServerOutcome, type Verdict } from '../credentials/verdict.ts'
import { createLogger } from '../logger.ts'
import { createKafkajsClient, type KafkaConnection } from './kafkajs/client.ts'

const CONNECT_MS = 4_000
const CLEAN_UP_MS = 1_000
/**
 * Attempts at a bootstrap address that refuses. One address may lead to another broker with each connection, as that of a load balancer
 * does, and one broker with a wrong certificate must not end a start.
 */
const ATTEMPTS = 4

type Credentials = Pick<KafkaConnection, 'brokers' | 'tls' | 'sasl'>

/**
 * Tries the credentials at each bootstrap broker with a client of its own, because kafkajs does not try the next broker after
 * one that refuses. It ends when one broker accepts them, or when all have failed.
 */
export async function probeKafka(connection: Credentials): Promise<Verdict> {
  const { promise, resolve } = Promise.withResolvers<Verdict>()
  const attempts = connection.brokers.map(async broker => {
    const outcomes = await tryBootstrap({ ...connection, brokers: [broker] }, broker)
    if (outcomes.includes('accepted')) resolve({ kind: 'accepted' })
    return outcomes
  })
  void Promise.all(attempts).then(outcomes => resolve(judgeServers(outcomes.flat())))
  return promise
}

/** Tries all addresses of a bootstrap name. Addresses without an answer do not count if another one answers. */
async function tryBootstrap(connection: Credentials, broker: string): Promise<readonly ServerOutcome[]> {
  const host = broker.slice(0, broker.lastIndexOf(':')).replaceAll(/[[\]]/g, '')
  const found = await lookup(host, { all: true }).catch(() => [{ address: host }])
  const outcomes = (await Promise.all(found.map(({ address }) => tryAddress(connection, address)))).flat()
  const answers = outcomes.filter(outcome => outcome !== 'no_answer')
  return answers.length === 0 ? ['no_answer'] : answers
}

async function tryAddress(connection: Credentials, address: string): Promise<readonly ServerOutcome[]> {
  const outcomes: ServerOutcome[] = []
  const startedAtMs = performance.now()
  while (outcomes.length < ATTEMPTS && performance.now() - startedAtMs < PROBE_WITHIN_MS / 2) {
    const outcome = await tryBroker(connection, address)
    outcomes.push(outcome)
    if (outcome === 'accepted' || outcome === 'no_answer') break
  }
  return outcomes
}

async function tryBroker({ brokers, tls, sasl }: Credentials, host: string): Promise<ServerOutcome> {
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
      translateAddress: ({ port }) => ({ host, port }),
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
