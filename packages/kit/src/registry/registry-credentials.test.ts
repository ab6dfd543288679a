import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { createCertificateAuthority } from '../../test/self-signed-certificate.ts'
import { Secret } from '../config/secret.ts'
import { findRefusal } from '../credentials/refusal.ts'
import { createTlsMaterial } from '../credentials/tls-material.ts'
import { createHttpExchange, type RegistryCredentials } from './registry-exchange.ts'
import { createSchemaRegistry } from './schema-registry.ts'

const authority = createCertificateAuthority('authority')
const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(stops.splice(0).map(stop => stop()))
})

/** A registry with TLS that answers 401 unless `accepts`. */
async function startRegistry(accepts: (authorization: string | undefined, client: string | undefined) => boolean) {
  const server = createServer(
    { ...authority.issue('registry', '127.0.0.1'), ca: authority.cert, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const socket = request.socket as TLSSocket
      const subject = socket.authorized ? socket.getPeerCertificate().subject.CN : undefined
      const isAccepted = accepts(request.headers.authorization, Array.isArray(subject) ? undefined : subject)
      response.writeHead(isAccepted ? 200 : 401).end('{"schemaType":"JSON","schema":"{}"}')
    },
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => new Promise(resolve => server.close(resolve)))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return (credentials: RegistryCredentials) => createSchemaRegistry(url, createHttpExchange(credentials))
}

const tls = createTlsMaterial({ ca: new Secret(authority.cert) })
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

test('a registry with an own authority and basic authentication is used, also after its password was rotated', async () => {
  let password = 'first'
  const open = await startRegistry(authorization => authorization === basic('backstop', password))
  const login = { username: new Secret('backstop'), password: new Secret('first', () => password) }
  const registry = open({ tls, login })
  await registry.getSchema(1)
  password = 'second'
  await registry.getSchema(2)
})

test('a wrong password is a refusal', async () => {
  const open = await startRegistry(() => false)
  const login = { username: new Secret('backstop'), password: new Secret('wrong') }
  const failure = await open({ tls, login })
    .getSchema(1)
    .catch((error: unknown) => error)
  expect(findRefusal(failure)).toBe('login_refused')
})

test('a registry of another authority is a refusal', async () => {
  const open = await startRegistry(() => true)
  const stranger = createTlsMaterial({ ca: new Secret(createCertificateAuthority('authority').cert) })
  const failure = await open({ tls: stranger })
    .getSchema(1)
    .catch((error: unknown) => error)
  expect(findRefusal(failure)).toBe('server_not_trusted')
})

test('each connection presents the client certificate as its files have it then', async () => {
  const [first, second] = [authority.issue('first'), authority.issue('second')]
  let files = first
  const seen: (string | undefined)[] = []
  const open = await startRegistry((_, client) => seen.push(client) > 0)
  const live = createTlsMaterial({
    ca: new Secret(authority.cert),
    cert: new Secret(first.cert, () => files.cert),
    key: new Secret(first.key, () => files.key),
  })
  const registry = open({ tls: live })
  await registry.getSchema(1)
  files = second
  await registry.getSchema(2)
  expect(seen).toEqual(['first', 'second'])
})
