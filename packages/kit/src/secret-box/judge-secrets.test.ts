import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import { judgeSecrets, type StoredSecret } from './judge-secrets.ts'
import { createSecretBox, type SecretContext } from './secret-box.ts'

const ring = (keys: Record<string, number>, lost: readonly string[] = []) =>
  createSecretBox({
    lost: new Set(lost),
    primary: Object.keys(keys)[0]!,
    keys: new Map(Object.entries(keys).map(([id, byte]) => [id, createSecretKey(Buffer.alloc(32, byte))])),
  })
const secret = (id: string, box: ReturnType<typeof ring>): StoredSecret => {
  const context: SecretContext = { collection: 'connections', id, field: 'inbound_secret', projectId: 'prj_1' }
  return { sealed: box.seal(new Secret(`of ${id}`), context), context }
}
const first = ring({ k1: 1 })
const second = ring({ k2: 2 })
const moved = { ...secret('con_1', first), context: secret('con_2', first).context }

test.each([
  { name: 'the key opens each secret', secrets: [secret('con_1', first)], box: first },
  { name: 'nothing is stored', secrets: [], box: first },
  {
    name: 'a rotation is under way',
    secrets: [secret('con_1', first), secret('con_2', second)],
    box: ring({ k2: 2, k1: 1 }),
  },
  { name: 'one secret of several was moved', secrets: [secret('con_1', first), moved], box: first },
  {
    name: 'the key of some secrets was lost for good',
    secrets: [secret('con_1', first), secret('con_2', second)],
    box: second,
  },
  {
    name: 'the only key of the stored secrets is lost, and SECRET_KEYS says so',
    secrets: [secret('con_1', first)],
    box: ring({ k2: 2 }, ['k1']),
  },
])('finds no fault when $name', ({ secrets, box }) => {
  expect(judgeSecrets(secrets, box)).toBeUndefined()
})

test.each([
  {
    name: 'another key has the id of the right one',
    secrets: [secret('con_1', first), secret('con_2', first)],
    box: ring({ k1: 9 }),
    fault: /^SECRET_KEYS has another key under the id "k1" than/,
  },
  {
    name: 'one of two keys is another one',
    secrets: [secret('con_1', first), secret('con_2', second)],
    box: ring({ k2: 2, k1: 9 }),
    fault: /under the id "k1" than/,
  },
  {
    name: 'the only key of the stored secrets is missing',
    secrets: [secret('con_1', first)],
    box: second,
    fault: /^SECRET_KEYS lacks the key "k1" of the stored secrets/,
  },
])('names the key when $name', ({ secrets, box, fault }) => {
  expect(judgeSecrets(secrets, box)).toMatch(fault)
})
