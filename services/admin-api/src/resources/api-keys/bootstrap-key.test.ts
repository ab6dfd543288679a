import type { ApiKeyDocument } from '@backstop/contracts'
import { hashApiKey } from '@backstop/kit/api-key'
import { Secret } from '@backstop/kit/config'
import { unavailable } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { createMemoryStores } from '../../../test/memory-stores.ts'
import type { Collection } from '../../store/collection.ts'
import { BOOTSTRAP_KEY_ID, ensureBootstrapKey, keepTryingBootstrap } from './bootstrap-key.ts'

const chosen = new Secret('chosen-by-the-operator-0123456789')
const setUp = (apiKeys: Collection<ApiKeyDocument> = createMemoryStores().apiKeys) => {
  const shown: Secret[] = []
  const clock = createManualClock()
  const options = {
    apiKeys,
    clock,
    logger: createLogger('test', 'silent'),
    show: (key: Secret) => void shown.push(key),
  }
  return {
    apiKeys,
    clock,
    shown,
    options,
    ensure: (given?: Secret) => ensureBootstrapKey({ ...options, chosen: given }),
  }
}

describe('the first API key', () => {
  test('is created and shown once', async () => {
    const { apiKeys, shown, ensure } = setUp()
    expect(await ensure()).toBe('made')
    expect(await ensure()).toBe('keys_are_there')
    expect(shown).toHaveLength(1)
    const [key] = shown as [Secret]
    expect(await apiKeys.find({ hash: hashApiKey(key) })).toMatchObject({ _id: BOOTSTRAP_KEY_ID, scopes: ['admin'] })
  })

  test('is the key that the operator chose, and is not shown', async () => {
    const { apiKeys, shown, ensure } = setUp()
    expect(await ensure(chosen)).toBe('stored')
    expect(await ensure(chosen)).toBe('keys_are_there')
    expect(shown).toEqual([])
    expect(JSON.stringify(await apiKeys.find({ hash: hashApiKey(chosen) }))).not.toContain(chosen.reveal())
  })

  test('is created by only one of two replicas that start at once', async () => {
    const { shown, ensure } = setUp()
    expect((await Promise.all([ensure(), ensure(), ensure()])).filter(outcome => outcome === 'made')).toHaveLength(1)
    expect(shown).toHaveLength(1)
  })

  test('is not created again after its revocation', async () => {
    const { apiKeys, shown, clock, ensure } = setUp()
    await ensure()
    await apiKeys.change({ _id: BOOTSTRAP_KEY_ID }, { revoked_at: new Date(clock.now()) })
    expect(await ensure()).toBe('keys_are_there')
    expect(await ensure(chosen)).toBe('keys_are_there')
    expect(shown).toHaveLength(1)
  })

  test("is replaced by the operator's key if it was never used", async () => {
    const { apiKeys, ensure } = setUp()
    await ensure()
    expect(await ensure(chosen)).toBe('replaced')
    expect(await apiKeys.find({ hash: hashApiKey(chosen) })).toMatchObject({ _id: BOOTSTRAP_KEY_ID })
  })

  test('is never replaced if it is in use', async () => {
    const { apiKeys, clock, ensure } = setUp()
    await ensure()
    await apiKeys.change({ _id: BOOTSTRAP_KEY_ID }, { last_used_at: new Date(clock.now()) })
    expect(await ensure(chosen)).toBe('keys_are_there')
    expect(await apiKeys.find({ hash: hashApiKey(chosen) })).toBeUndefined()
  })

  test('is not replaced by the previous one after a rotation, although the new one was never used', async () => {
    const { apiKeys, clock, ensure } = setUp()
    await ensure(chosen)
    const rotated = { hash: 'hash of the new key', last_used_at: null, rotated_at: new Date(clock.now()) }
    await apiKeys.change({ _id: BOOTSTRAP_KEY_ID }, rotated)
    expect(await ensure(chosen)).toBe('keys_are_there')
    expect(await apiKeys.find({ _id: BOOTSTRAP_KEY_ID })).toMatchObject({ hash: rotated.hash })
  })

  test('is created when the database becomes available', async () => {
    const apiKeys = createMemoryStores().apiKeys
    let isDown = true
    const unsteady: Collection<ApiKeyDocument> = {
      ...apiKeys,
      page: async request => {
        if (isDown) throw unavailable('MongoDB', undefined)
        return apiKeys.page(request)
      },
    }
    const { clock, shown, options } = setUp(unsteady)
    const done = keepTryingBootstrap({ ...options, chosen: undefined }, new AbortController().signal)
    await clock.advance(10_000)
    expect(shown).toEqual([])
    isDown = false
    await clock.advance(2_000)
    await done
    expect(shown).toHaveLength(1)
  })

  test('is not created after the process stops', async () => {
    const apiKeys: Collection<ApiKeyDocument> = {
      ...createMemoryStores().apiKeys,
      page: () => Promise.reject(unavailable('MongoDB', undefined)),
    }
    const { options } = setUp(apiKeys)
    const stopping = new AbortController()
    const done = keepTryingBootstrap({ ...options, chosen: undefined }, stopping.signal)
    stopping.abort()
    await done
  })
})
