import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestStack, testStack } from '../../test/stack.ts'
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy.ts'
import { until } from '../../test/until.ts'
import { Secret } from '../config/secret.ts'
import { connectMongo } from './mongo.ts'

let stack: TestStack
let proxy: TcpProxy
beforeAll(async () => {
  stack = await testStack()
  const { hostname, port } = new URL(stack.mongoUrl.reveal())
  proxy = await startTcpProxy({ host: hostname, port: Number(port) })
})
afterAll(async () => {
  await proxy.stop()
  await stack.close()
})

// If its first connection fails, the driver (7.9) answers "Topology is closed" to every later call.
test('a service that started while MongoDB was unavailable uses it when it is available', async () => {
  proxy.mode = 'refuse'
  const url = new Secret(`mongodb://${proxy.address.host}:${proxy.address.port}/?directConnection=true`)
  const mongo = connectMongo({ url, dbName: stack.dbName, appName: 'backstop-test' })
  await expect(mongo.ping()).rejects.toMatchObject({ code: 'unavailable' })
  await expect(mongo.ping()).rejects.toMatchObject({ code: 'unavailable' })
  proxy.mode = 'pass'
  await until('MongoDB to be used', () => mongo.ping().then(() => true))
  await mongo.stop()
})
