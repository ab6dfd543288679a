import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createCertificateAuthority } from '../../test/self-signed-certificate.ts'
import { kafkaCredentials, mongoTls, registryCredentials } from './connections.ts'
import { commonSettings, readServiceConfig } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'backstop-credentials-'))
afterAll(() => rmSync(folder, { recursive: true }))

const authority = createCertificateAuthority('authority')
const { cert, key } = authority.issue('backstop')
const other = authority.issue('other')
const good = { KAFKA_BROKERS: 'a:9092', MONGO_URL: 'mongodb://db/', SCHEMA_REGISTRY_URL: 'https://r' }
const read = (change: Record<string, string>) => readServiceConfig(commonSettings, { ...good, ...change })
const login = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'canary' }

describe('settings that do not fit together are refused', () => {
  test.each([
    {
      name: 'a certificate without its key',
      set: { KAFKA_CERT: cert },
      fault: 'KAFKA_KEY: is required with KAFKA_CERT',
    },
    { name: 'a key without its certificate', set: { MONGO_KEY: key }, fault: 'MONGO_CERT: is required with MONGO_KEY' },
    {
      name: 'the key of another certificate',
      set: { SCHEMA_REGISTRY_CERT: cert, SCHEMA_REGISTRY_KEY: other.key },
      fault: 'SCHEMA_REGISTRY_KEY: is not the key of SCHEMA_REGISTRY_CERT',
    },
    { name: 'a file that is no certificate', set: { KAFKA_CA: key }, fault: 'KAFKA_CA: Give certificates in PEM' },
    {
      name: 'a damaged certificate',
      set: { KAFKA_CA: authority.cert.replace(/\n.{20}/, '\n') },
      fault: 'KAFKA_CA: Give certificates in PEM',
    },
    { name: 'a key that is none', set: { KAFKA_CERT: cert, KAFKA_KEY: cert }, fault: 'KAFKA_KEY: Give a private key' },
    {
      name: 'a mechanism without user and password',
      set: { KAFKA_SASL_MECHANISM: 'PLAIN' },
      fault: /KAFKA_SASL_USERNAME: is required[\s\S]*KAFKA_SASL_PASSWORD: is required with KAFKA_SASL_MECHANISM/,
    },
    {
      name: 'a password without a mechanism',
      set: { KAFKA_SASL_PASSWORD: 'canary' },
      fault: 'KAFKA_SASL_MECHANISM: is required with KAFKA_SASL_PASSWORD',
    },
    {
      name: 'an unknown mechanism',
      set: { ...login, KAFKA_SASL_MECHANISM: 'GSSAPI' },
      fault: 'KAFKA_SASL_MECHANISM: Give one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512',
    },
    {
      name: 'an authority with TLS switched off',
      set: { KAFKA_TLS: 'off', KAFKA_CA: authority.cert },
      fault: 'KAFKA_TLS: is off, but KAFKA_CA is set',
    },
    {
      name: 'an authority for MongoDB without TLS',
      set: { MONGO_CA: authority.cert, MONGO_URL: 'mongodb://db/?tls=false' },
      fault: 'MONGO_CA: MONGO_URL says tls=false',
    },
    {
      name: 'two authorities for MongoDB',
      set: { MONGO_CA: authority.cert, MONGO_URL: 'mongodb://db/?tls=true&tlsCAFile=/ca.pem' },
      fault: 'MONGO_CA: MONGO_URL names certificate files too',
    },
    {
      name: 'X.509 without a certificate',
      set: { MONGO_URL: 'mongodb://db/?authMechanism=MONGODB-X509&tls=true' },
      fault: 'MONGO_CERT: is required with authMechanism=MONGODB-X509',
    },
    {
      name: 'a registry user without a password',
      set: { SCHEMA_REGISTRY_USERNAME: 'u' },
      fault: 'SCHEMA_REGISTRY_PASSWORD: is required',
    },
    {
      name: 'two registry users',
      set: { SCHEMA_REGISTRY_URL: 'https://u:canary@r', SCHEMA_REGISTRY_USERNAME: 'u', SCHEMA_REGISTRY_PASSWORD: 'p' },
      fault: 'SCHEMA_REGISTRY_USERNAME: SCHEMA_REGISTRY_URL has a user too',
    },
    {
      name: 'an authority for a registry without TLS',
      set: { SCHEMA_REGISTRY_URL: 'http://r', SCHEMA_REGISTRY_CA: authority.cert },
      fault: 'SCHEMA_REGISTRY_CA: is used only with https://',
    },
  ])('$name', ({ set, fault }) => {
    const act = () => read(set as Record<string, string>)
    expect(act).toThrow(fault)
    expect(act).not.toThrow(/canary|-----/)
  })

  test('together with all other faults', () => {
    expect(() => read({ KAFKA_BROKERS: 'a', KAFKA_CERT: cert, SCHEMA_REGISTRY_PASSWORD: 'p' })).toThrow(
      /3 error\(s\)[\s\S]*KAFKA_BROKERS: Give host:port[\s\S]*KAFKA_KEY: [\s\S]*SCHEMA_REGISTRY_USERNAME: /,
    )
  })
})

describe('TLS to the brokers', () => {
  test.each([
    { name: 'is off without credentials', set: {}, tls: false },
    { name: 'is on with an authority', set: { KAFKA_CA: authority.cert }, tls: true },
    { name: 'is on with a login, which must not be readable', set: login, tls: true },
    { name: 'is off with a login if the operator says so', set: { ...login, KAFKA_TLS: 'off' }, tls: false },
    { name: 'is on if the operator says so', set: { KAFKA_TLS: 'on' }, tls: true },
  ])('$name', ({ set, tls }) => {
    expect(kafkaCredentials(read(set as Record<string, string>)).tls !== undefined).toBe(tls)
  })
})

test('without certificates the URLs alone decide about TLS to MongoDB and the registry', () => {
  expect(mongoTls(read({}))).toBeUndefined()
  expect(registryCredentials(read({}))).toEqual({ tls: undefined, login: undefined })
})

test('a password from a mounted file is the one that the file has now, and the last valid one while it has none', () => {
  const path = join(folder, 'password')
  writeFileSync(path, 'first\n')
  const { KAFKA_SASL_PASSWORD: _inline, ...rest } = login
  const password = kafkaCredentials(read({ ...rest, KAFKA_SASL_PASSWORD_FILE: path })).sasl?.password
  writeFileSync(path, 'second\n')
  expect([password?.reveal(), password?.revealLatest()]).toEqual(['first', 'second'])
  writeFileSync(path, '')
  expect(password?.revealLatest()).toBe('second')
  rmSync(path)
  expect(password?.revealLatest()).toBe('second')
})
