import { expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { unlessFailed } from './service-parts.ts'

const never = new Promise<never>(() => {})
const refusal = new AppError('config_invalid', 'Kafka refused the login')

test('a step of the start returns its result', async () => {
  expect(await unlessFailed({ failed: never }, Promise.resolve(7))).toBe(7)
})

test('a step that waits without end is ended by a fatal error, such as refused credentials', async () => {
  await expect(unlessFailed({ failed: Promise.resolve(refusal) }, never)).rejects.toBe(refusal)
})
