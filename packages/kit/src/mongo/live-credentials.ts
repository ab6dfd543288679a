import { MongoClient, type MongoCredentials } from 'mongodb'
import type { Secret } from '../config/secret.ts'
import type { CredentialWatch } from '../credentials/credential-watch.ts'

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

/** True if the server closed a connection without an answer, as mongod does if it refuses the client certificate. */
export function isClosedConnection({ message }: Error): boolean {
  return /^connection .* closed$/.test(message)
}

/** One closed connection may be a server that stops. */
const CLOSED_IS_SUSPICIOUS = 3

/** Counts, for each server, the monitor connections in a row that the server closed without an answer. */
export class ClosedConnections {
  readonly #inARow = new Map<string, number>()

  /** @returns true if the server closes so many connections that it may refuse the client certificate */
  note(host: string, isClosed: boolean): boolean {
    const count = isClosed ? (this.#inARow.get(host) ?? 0) + 1 : 0
    this.#inARow.set(host, count)
    return count >= CLOSED_IS_SUSPICIOUS
  }
}

/** Reports the connections of the client, including those of its monitors, to the watch. */
export function reportConnections(client: MongoClient, watch: CredentialWatch): void {
  const closed = new ClosedConnections()
  client.on('connectionReady', () => watch.accepted())
  client.on('connectionClosed', ({ error }: { readonly error?: unknown }) => watch.failed(error))
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => closed.note(connectionId, false))
  client.on('serverHeartbeatFailed', ({ connectionId, failure }) => {
    watch.failed(failure)
    if (closed.note(connectionId, client.options.tls && isClosedConnection(failure))) {
      watch.suspected('connection_closed')
    }
  })
}

/** True if the client presents credentials or uses TLS, according to its URL. */
export function hasCredentials(url: string): boolean {
  const { credentials, tls } = new MongoClient(url).options
  return credentials !== undefined || tls === true
}
