/**
 * docker-compose.tls.yml, merged with docker-compose.yml as Compose does it. The script that creates its files is not run, because
 * it needs openssl.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createCertificateAuthority } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { READERS, SAMPLE_SECRETS } from './readers.ts'

interface Service {
  environment?: Record<string, string | number>
  volumes?: string[]
}

const ROOT = join(import.meta.dirname, '../..')
const composeFile = (file: string) =>
  parse(readFileSync(join(ROOT, file), 'utf8'), { merge: true, logLevel: 'silent' }) as {
    services: Record<string, Service>
    secrets: Record<string, object>
  }
const { services: base, secrets } = composeFile('docker-compose.yml')
const { services: tls } = composeFile('docker-compose.tls.yml')
const OURS = ['ingress', 'reconciler', 'notifier', 'admin-api', 'provision']

const scratch = mkdtempSync(join(tmpdir(), 'backstop-compose-tls-'))
const files = join(scratch, 'files')
beforeAll(() => {
  mkdirSync(files)
  const texts = {
    'ca.pem': createCertificateAuthority('authority').cert,
    'kafka-username': 'backstop',
    'kafka-password': 'password',
    'mongo-url': 'mongodb://backstop:password@mongo:27017/?replicaSet=rs0&authSource=admin',
    ...Object.fromEntries(Object.keys(secrets).map(name => [name, SAMPLE_SECRETS[name] ?? ''])),
  }
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(files, name), text)
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** The environment of a service, with the created files in place of the mounted ones. */
function environmentOf(name: string): Record<string, string> {
  const entries = Object.entries({ ...base[name]?.environment, ...tls[name]?.environment })
  const resolve = (value: string) =>
    value.startsWith('/run/secrets/') ? join(files, basename(value)) : value.replace(/\$\{[A-Z_]+:[-+]([^}]*)\}/, '$1')
  return Object.fromEntries(entries.map(([setting, value]) => [setting, resolve(String(value))]))
}

test.each(OURS)('%s starts with the created files', name => {
  const config = READERS[name]?.read(environmentOf(name))
  expect(config).toMatchObject({
    KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
    SCHEMA_REGISTRY_URL: expect.stringMatching(/^https:/),
  })
})

test('every mounted file is created by the script', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const script = read('deploy/compose/create-tls-files.sh')
  const names = [...read('docker-compose.tls.yml').matchAll(/\/run\/secrets\/backstop-tls\/([\w.-]+)/g)].map(
    ([, file]) => file,
  )
  expect(new Set(names).size).toBeGreaterThan(8)
  for (const name of names) expect(script).toMatch(new RegExp(`(?:files/${name}|cp [^\\n]*\\b${name}\\b)`))
})

test('no listener of Kafka without TLS can be reached from another container', () => {
  const { KAFKA_LISTENERS = '', KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: protocols = '' } = environmentOf('kafka')
  const open = KAFKA_LISTENERS.split(',').filter(listener => !protocols.includes(`${listener.split(':')[0]}:SASL_SSL`))
  expect(open.length).toBeGreaterThan(0)
  for (const listener of open) expect(listener).toMatch(/:\/\/127\.0\.0\.1:/)
})
