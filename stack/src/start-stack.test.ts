import { expect, test } from 'vitest'
import { silentProgress } from './progress.ts'
import { startStack } from './start-stack.ts'

const env = { KAFKA_BROKERS: 'a:1', MONGO_URL: 'mongodb://c', SCHEMA_REGISTRY_URL: 'http://d', SMTP_URL: 'smtp://e' }

test('when everything is given nothing is started, and stopping stops nothing', async () => {
  const stack = await startStack({ dataDir: '/nowhere', log: silentProgress, env })
  expect(stack.kind).toBe('given')
  expect(stack.urls).toEqual({ kafka: 'a:1', mongo: 'mongodb://c', registry: 'http://d', smtp: 'smtp://e', mail: '' })
  await stack.stop()
})

test('what was given cannot be stopped by a test, and the refusal says why', async () => {
  const { parts } = await startStack({ dataDir: '/nowhere', log: silentProgress, env })
  expect(() => parts.kafka.kill('SIGKILL')).toThrow('kafka was given by KAFKA_BROKERS')
  await expect(parts.mongo.stop()).rejects.toThrow('mongo was given by MONGO_URL')
  await expect(parts.mail.restart()).rejects.toThrow('mail was given by SMTP_URL')
})

test('a part that was not asked for has no URL and says that it is not there', async () => {
  const { urls, parts } = await startStack({
    dataDir: '/nowhere',
    log: silentProgress,
    env: { MONGO_URL: 'mongodb://c' },
    only: ['mongo'],
  })
  expect(urls.kafka).toBe('')
  await expect(parts.kafka.stop()).rejects.toThrow('kafka is not part of this stack')
})
