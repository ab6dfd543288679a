import { MongoClient, type MongoCredentials } from 'mongodb'
import type { Secret } from '../config/secret.ts'
import type { CredentialWatch } from '../credentials/credential-watch.ts'
import { RefusedError } from '../credentials/refusal.ts'

/**
 * Makes the client log in with user and password as the mounted file of the URL has them at each new connection. The driver
 * (7.9) reads both fields of this object for each login, and has no other way to change them. Hosts and options of the URL stay
 * as they were at the start. Call it before the client connects.
 */
export function useLatestLogin(client: MongoClient, url: Secret): void {
  const { credentials } = client.options
  if (credentials === undefined || credentials.mechanism === 'MONGODB-X509') return
  let read: { readonly url: string; readonly credentials: MongoCredentials } = { url: url.reveal(), credentials }
  const latest = (): MongoCredentials => {
    const text = url.revealLatest()
    if (text !== read.url) read = { url: text, credentials: new MongoClient(text).options.credentials ?? credentials }
    return read.credentials
  }
  const live: MongoCredentials = Object.create(credentials, {
    username: { get: () => latest().username, enumerable: true },
    password: { get: () => latest().password, enumerable: true },
  })
  Object.assign(client.options, { credentials: live })
}

/**
 * mongod checks a client certificate after the TLS handshake, and closes the connection without an answer if it refuses it. So
 * many monitor connections in a row that end in this way are a refusal; one of them may be a server that stops.
 */
const CLOSED_IS_REFUSED = 3

/** Reports the connections of the client, including those of its monitors, to the watch. */
export function reportConnections(client: MongoClient, watch: CredentialWatch): void {
  let closedInARow = 0
  client.on('connectionReady', () => watch.accepted())
  client.on('connectionClosed', ({ error }: { readonly error?: unknown }) => watch.failed(error))
  client.on('serverHeartbeatSucceeded', () => {
    closedInARow = 0
  })
  client.on('serverHeartbeatFailed', ({ failure }) => {
    watch.failed(failure)
    const isClosed = client.options.tls && /^connection .* closed$/.test(failure.message)
    closedInARow = isClosed ? closedInARow + 1 : 0
    if (closedInARow >= CLOSED_IS_REFUSED) {
      watch.failed(new RefusedError('client_certificate_refused', 'The server closed every connection unanswered'))
    }
  })
}

/** True if the client presents credentials or uses TLS, according to its URL. */
export function hasCredentials(url: string): boolean {
  const { credentials, tls } = new MongoClient(url).options
  return credentials !== undefined || tls === true
}
