import { expect, test } from 'vitest'
import { createManualClock } from '../../test/manual-clock.ts'
import { AppError } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { createPreconditions } from './preconditions.ts'

function open(judge: () => string | undefined) {
  const clock = createManualClock()
  const lines: string[] = []
  const logger = createLogger('test', 'info', { write: line => void lines.push(JSON.parse(line).msg) })
  const lost: string[] = []
  const preconditions = createPreconditions({ conditions: [async () => judge()], clock, logger })
  let isMet = false
  void preconditions.untilMet().then(() => (isMet = true))
  void preconditions.start(fault => lost.push(fault))
  return { clock, lines, lost, preconditions, isMet: () => isMet }
}

test('are unknown before the first check, and checked again soon until they are met', async () => {
  let fault: string | undefined = 'wrong'
  const { clock, preconditions, isMet, lines, lost } = open(() => fault)
  expect(preconditions.fault()).toMatch(/were not checked yet/)
  await clock.settle()
  expect(preconditions.fault()).toBe('wrong')
  fault = undefined
  await clock.advance(5_000)
  expect(preconditions.fault()).toBeUndefined()
  expect(isMet()).toBe(true)
  expect(lost).toEqual([])
  expect(lines).toEqual(['preconditions.not_met', 'preconditions.met'])
})

test('are checked every minute, and the loss of one is reported', async () => {
  let fault: string | undefined
  const { clock, preconditions, lost } = open(() => fault)
  await clock.settle()
  fault = 'lost'
  await clock.advance(59_999)
  expect(preconditions.fault()).toBeUndefined()
  await clock.advance(1)
  expect(preconditions.fault()).toBe('lost')
  expect(lost).toEqual(['lost'])
})

test('say why they cannot be checked, before the first judgement', async () => {
  const { clock, preconditions } = open(() => {
    throw new AppError('unavailable', 'MongoDB does not let the user list indexes', { retryable: true })
  })
  await clock.settle()
  expect(preconditions.fault()).toBe('MongoDB does not let the user list indexes')
})

test('keep their judgement while they cannot be checked', async () => {
  let judge = (): string | undefined => undefined
  const { clock, preconditions, lost } = open(() => judge())
  await clock.settle()
  judge = () => {
    throw new Error('MongoDB is away')
  }
  await clock.advance(60_000)
  expect(preconditions.fault()).toBeUndefined()
  judge = () => 'wrong'
  expect(await preconditions.recheck()).toBe('wrong')
  judge = () => {
    throw new Error('MongoDB is away')
  }
  await clock.advance(60_000)
  expect(preconditions.fault()).toBe('wrong')
  expect(lost).toEqual(['wrong'])
})
