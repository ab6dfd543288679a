import { HEARTBEAT } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { expect, test } from 'vitest'
import { createMemoryStores } from '../../test/memory-stores.ts'
import { openHeartbeatConnection } from './heartbeat-connection.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')
const boxOf = (id: string, byte: number) =>
  createSecretBox(parseKeyRing(new Secret(`${id}:${Buffer.alloc(32, byte).toString('base64')}`)))

test('two processes use the same secret', async () => {
  const stores = createMemoryStores()
  const parts = { stores, secretBox: boxOf('k1', 7) }
  const first = await openHeartbeatConnection(parts, NOW)
  expect((await openHeartbeatConnection(parts, NOW)).reveal()).toBe(first.reveal())
})

test('gets a new secret if the connection was deleted, or its secret cannot be opened', async () => {
  const stores = createMemoryStores()
  const parts = { stores, secretBox: boxOf('k1', 7) }
  const first = await openHeartbeatConnection(parts, NOW)
  await stores.connections.change({ _id: HEARTBEAT.connectionId }, { status: 'deleted', deleted_at: NOW })
  const second = await openHeartbeatConnection(parts, NOW)
  expect(second.reveal()).not.toBe(first.reveal())
  expect(await stores.connections.find({ _id: HEARTBEAT.connectionId })).toMatchObject({ status: 'active', version: 2 })
  const third = await openHeartbeatConnection({ stores, secretBox: boxOf('k2', 8) }, NOW)
  expect(third.reveal()).not.toBe(second.reveal())
})

test('enables the channel again', async () => {
  const stores = createMemoryStores()
  const parts = { stores, secretBox: boxOf('k1', 7) }
  await openHeartbeatConnection(parts, NOW)
  await stores.channels.change({ _id: HEARTBEAT.channelId }, { enabled: false })
  await openHeartbeatConnection(parts, NOW)
  expect(await stores.channels.find({ _id: HEARTBEAT.channelId })).toMatchObject({ enabled: true, deleted_at: null })
})
