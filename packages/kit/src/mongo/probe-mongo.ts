import { MongoClient, type ServerDescription } from 'mongodb'
import { waitUntilSettled } from '../clock/with-deadline.ts'
import type { Secret } from '../config/secret.ts'
import { findRefusal } from '../credentials/refusal.ts'
import type { TlsMaterial } from '../credentials/tls-material.ts'
import { judgeServers, PROBE_WITHIN_MS, type ServerOutcome, type Verdict } from '../credentials/verdict.ts'
import { isClosedConnection, useLatestLogin } from './live-credentials.ts'

const CONNECT_MS = 5_000
const CLEAN_UP_MS = 1_000

/**
 * Tries the credentials with a new client at all members. It ends when one member accepts a login, or when every member has
 * failed, because the driver itself would repeat refused connections until its time limit.
 */
export async function probeMongo({ url, tls }: { url: Secret; tls: TlsMaterial | undefined }): Promise<Verdict> {
  const client = new MongoClient(url.reveal(), {
    appName: 'backstop-credentials',
    // Any member can check a login.
    readPreference: 'nearest',
    serverSelectionTimeoutMS: PROBE_WITHIN_MS,
    waitQueueTimeoutMS: PROBE_WITHIN_MS,
    connectTimeoutMS: CONNECT_MS,
    maxPoolSize: 1,
    ...(tls === undefined ? {} : { tls: true, secureContext: tls.liveContext }),
  })
  useLatestLogin(client, url)
  const verdict = await verdictOf(client)
  await waitUntilSettled(client.close(), CLEAN_UP_MS)
  return verdict
}

function verdictOf(client: MongoClient): Promise<Verdict> {
  const { promise, resolve } = Promise.withResolvers<Verdict>()
  let outcomes: readonly (ServerOutcome | undefined)[] = []
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    outcomes = [...newDescription.servers.values()].map(server => outcomeOf(server, client.options.tls))
    if (outcomes.length > 0 && !outcomes.includes(undefined)) resolve(judge())
  })
  const judge = (error?: unknown): Verdict =>
    judgeServers([...outcomes.map(outcome => outcome ?? 'no_answer'), ...findRefusalIn(error)])
  const timer = setTimeout(() => resolve(judge()), PROBE_WITHIN_MS)
  client.connect().then(
    () => resolve({ kind: 'accepted' }),
    error => resolve(judge(error)),
  )
  return promise.finally(() => clearTimeout(timer))
}

function findRefusalIn(error: unknown): ServerOutcome[] {
  const refusal = findRefusal(error)
  return refusal === undefined ? [] : [refusal]
}

/** Undefined while a member has not failed: it has not answered yet, or the login at it is in flight. */
function outcomeOf({ error }: ServerDescription, usesTls: boolean): ServerOutcome | undefined {
  if (error === null) return undefined
  return findRefusal(error) ?? (usesTls && isClosedConnection(error) ? 'connection_closed' : 'no_answer')
}
