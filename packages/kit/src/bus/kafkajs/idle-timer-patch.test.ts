import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { PATCHED_KAFKAJS_VERSION, patchKafkajs } from './idle-timer-patch.ts'

const require = createRequire(import.meta.url)

test('the installed kafkajs is the one version whose insides the patch knows', () => {
  expect(require('kafkajs/package.json').version).toBe(PATCHED_KAFKAJS_VERSION)
})

test('the method that the patch replaces is there, and what it calls, too', () => {
  const { prototype } = require('kafkajs/src/network/requestQueue')
  expect(prototype.scheduleCheckPendingRequests).toBeTypeOf('function')
  expect(prototype.checkPendingRequests).toBeTypeOf('function')
  const queue = new (require('kafkajs/src/network/requestQueue'))({ logger: {}, requestTimeout: 1 })
  expect(queue).toMatchObject({ throttleCheckTimeoutId: null, pending: [], throttledUntil: -1 })
})

test('an idle queue sets no timer, and one with work sets exactly one that looks at it', async () => {
  patchKafkajs()
  const RequestQueue = require('kafkajs/src/network/requestQueue')
  const queue = new RequestQueue({ logger: {}, requestTimeout: 1 })
  queue.scheduleCheckPendingRequests()
  expect(queue.throttleCheckTimeoutId).toBeNull()
  const looked = new Promise<void>(resolve => {
    queue.checkPendingRequests = resolve
  })
  queue.pending.push({})
  queue.scheduleCheckPendingRequests()
  const timer = queue.throttleCheckTimeoutId
  queue.scheduleCheckPendingRequests()
  expect(queue.throttleCheckTimeoutId).toBe(timer)
  await looked
  expect(queue.throttleCheckTimeoutId).toBeNull()
})
