import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { listen } from '../ops/ops-server.ts'
import { describeStartFault } from './start-fault.ts'

const failureOf = (port: number, host: string) => listen(createServer(), port, host).catch((error: unknown) => error)

test.each(['OPS_PORT', 'PORT'])('names the port that is in use, and the setting %s', async setting => {
  const other = createServer()
  await listen(other, 0, '127.0.0.1')
  const { port } = other.address() as AddressInfo
  const error = await failureOf(port, '127.0.0.1')
  other.close()
  const expected = `Port ${port} is in use: stop the other program or set ${setting}`
  expect(describeStartFault(error, { OPS_PORT: '0', [setting]: String(port) })).toBe(expected)
})

test('names the address that the host does not have', async () => {
  const error = await failureOf(0, '192.0.2.1')
  expect(describeStartFault(error, {})).toBe('This host does not have the address 192.0.2.1: correct HOST')
})

test('names the port that the user may not listen on', () => {
  // As the system gives it; root, who may listen on every port, runs tests too.
  const error = Object.assign(new Error('listen EACCES'), { syscall: 'listen', code: 'EACCES', port: 80 })
  const expected = 'This user may not listen on port 80: set PORT to 1024 or more'
  expect(describeStartFault(error, {})).toBe(expected)
})

test('gives the sentence of an expected error, and the stack of a bug', () => {
  const expected = new AppError('unavailable', 'The clock could not be compared with MongoDB or Kafka')
  expect(describeStartFault(expected, {})).toBe('The clock could not be compared with MongoDB or Kafka')
  const bug = new TypeError('x is not a function')
  expect(describeStartFault(bug, {})).toBe(bug.stack)
})
