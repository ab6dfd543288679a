import { ERROR_CODES, type ErrorCode, Problem } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { toProblem } from './problem.ts'

describe('problem documents', () => {
  test.each(Object.keys(ERROR_CODES) as ErrorCode[])('%s is a problem document with its own status', code => {
    const { status, body } = toProblem(new AppError(code, 'What was wrong'), 'req_1')
    expect(Problem.parse(body)).toEqual(body)
    expect(status).toBe(ERROR_CODES[code].status)
    expect(body).toMatchObject({ code, status, detail: 'What was wrong', request_id: 'req_1' })
  })

  test('an internal error is not described', () => {
    const { status, body } = toProblem(new TypeError('canary: cannot read properties of undefined'))
    expect(status).toBe(500)
    expect(JSON.stringify(body)).not.toContain('canary')
  })

  test('the cause of an error is not shown', () => {
    const { body } = toProblem(new AppError('unavailable', 'MongoDB is unavailable', { cause: new Error('canary') }))
    expect(JSON.stringify(body)).not.toContain('canary')
  })

  test('is short, whatever was asked for', () => {
    const { body } = toProblem(new AppError('not_found', `There is no project ${'x'.repeat(1_000_000)}`))
    expect(body.detail).toMatch(/^There is no project x+…$/)
    expect(body.detail).toHaveLength(1_001)
  })

  test('carries each refused field', () => {
    const errors = [{ path: 'name', message: 'Too long' }]
    expect(
      toProblem(new AppError('invalid_request', 'One field is refused', { details: { errors } })).body.errors,
    ).toEqual(errors)
  })
})
