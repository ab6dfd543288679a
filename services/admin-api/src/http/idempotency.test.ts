import { Secret } from '@backstop/kit/config'
import { AppError, unavailable } from '@backstop/kit/errors'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { describe, expect, test } from 'vitest'
import { createMemoryStores } from '../../test/memory-stores.ts'
import { type IdempotentRequest, type IdempotentWork, runOnce } from './idempotency.ts'

const secretBox = createSecretBox(parseKeyRing(new Secret(`k:${Buffer.alloc(32, 1).toString('base64')}`)))
const NOW = new Date('2026-11-21T10:00:00.000Z')

function setUp() {
  const keys = createMemoryStores().idempotencyKeys
  const run = (work: IdempotentWork, more: Partial<IdempotentRequest> = {}) =>
    runOnce(
      keys,
      secretBox,
      { key: 'k-1', callerId: 'key_1', content: ['POST', '/x', '{}'], now: NOW, shownOnce: ['password'], ...more },
      work,
    )
  return { keys, run }
}
const answerWithSecret: IdempotentWork = async newId => ({
  status: 201,
  body: { id: newId('project'), password: 'canary-password' },
})

describe('a request with an Idempotency-Key', () => {
  test('runs once, and a repeat gets the first answer without its secrets', async () => {
    const { keys, run } = setUp()
    const first = await run(answerWithSecret)
    const repeat = await run(() => Promise.reject(new Error('run twice')))
    expect(first.body).toMatchObject({ password: 'canary-password' })
    expect(repeat).toEqual({
      status: 201,
      body: { id: (first.body as { id: string }).id },
      headers: { 'idempotency-replayed': 'true' },
    })
    expect(JSON.stringify(await keys.findAll({}))).not.toContain('canary')
  })

  test('stores no hash from which content could be guessed', async () => {
    const { keys, run } = setUp()
    await run(answerWithSecret, { content: ['POST', '/x', '{"secret":"s"}'] })
    const [document] = await keys.findAll({})
    expect(document?.fingerprint).toMatch(/^[0-9a-f]{8}$/)
  })

  test('is refused for another request', async () => {
    const { run } = setUp()
    await run(answerWithSecret)
    const other = run(answerWithSecret, { content: ['POST', '/x', '{"a":1}'] })
    await expect(other).rejects.toMatchObject({ code: 'idempotency_conflict' })
  })

  test('is separate for each caller', async () => {
    const { run } = setUp()
    const [first, second] = [await run(answerWithSecret), await run(answerWithSecret, { callerId: 'key_2' })]
    expect(first.body).not.toEqual(second.body)
  })

  test('is refused while the first request runs', async () => {
    const { run } = setUp()
    await run(async (newId, decideOnce) => {
      await expect(run(answerWithSecret)).rejects.toMatchObject({ code: 'conflict', retryable: true })
      return answerWithSecret(newId, decideOnce)
    })
  })

  test('may be sent again with corrections after a refusal', async () => {
    const { run } = setUp()
    await expect(run(() => Promise.reject(new AppError('not_found', 'None')))).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await run(answerWithSecret, { content: ['mended'] })).toMatchObject({ status: 201 })
  })

  test('runs again after a server error and makes the same ids', async () => {
    const { run } = setUp()
    const made: string[] = []
    const failing: IdempotentWork = async newId => {
      made.push(newId('connection'), newId('channel'))
      throw unavailable('MongoDB', undefined)
    }
    await expect(run(failing)).rejects.toMatchObject({ code: 'unavailable' })
    await run(async newId => {
      made.push(newId('connection'), newId('channel'))
      return { status: 201, body: {} }
    })
    expect(made.slice(2)).toEqual(made.slice(0, 2))
    expect(new Set(made).size).toBe(2)
  })

  test('decides once: a repeat after a server error gets the decision, and a refusal is decided again', async () => {
    const { run } = setUp()
    const refused = run((_, decideOnce) => decideOnce(() => Promise.reject(new AppError('conflict', 'Not now'))))
    await expect(refused).rejects.toMatchObject({ code: 'conflict' })
    const failing = run(async (_, decideOnce) => {
      await decideOnce(async () => ({ state: 'dead' }))
      throw unavailable('Kafka', undefined)
    })
    await expect(failing).rejects.toMatchObject({ code: 'unavailable' })
    const decideAgain = () => Promise.reject(new Error('decided twice'))
    const repeat = await run(async (_, decideOnce) => ({ status: 202, body: await decideOnce(decideAgain) }))
    expect(repeat.body).toEqual({ state: 'dead' })
  })

  test('runs again after its process died and its lock expired, for one repeat only', async () => {
    const { keys, run } = setUp()
    void run(() => new Promise(() => {}))
    await new Promise(resolve => setImmediate(resolve))
    await expect(run(answerWithSecret)).rejects.toMatchObject({ code: 'conflict' })
    const later = { now: new Date(NOW.getTime() + 60_001) }
    const repeats = await Promise.allSettled([run(answerWithSecret, later), run(answerWithSecret, later)])
    expect(repeats.map(repeat => repeat.status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await keys.findAll({})).toHaveLength(1)
  })

  test.each(['', 'with space', 'x'.repeat(256), 'ü'])('has a key of printable ASCII: "%s" is refused', async key => {
    await expect(setUp().run(answerWithSecret, { key })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('may answer without a body', async () => {
    const { run } = setUp()
    await run(async () => ({ status: 204 }))
    expect(await run(answerWithSecret)).toMatchObject({ status: 204, body: null })
  })
})
