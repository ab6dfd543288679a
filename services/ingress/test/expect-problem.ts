import { Problem } from '@backstop/contracts'
import { PROBLEM_TYPE } from '@backstop/kit/http'
import { expect } from 'vitest'
import type { HttpAnswer } from './http-client.ts'

/** Expects a problem document with the given status and code, and a sentence in `detail`. */
export function expectProblem(answer: HttpAnswer, status: number, code: string, retryAfter?: string): void {
  expect(answer.headers['retry-after']).toBe(retryAfter)
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe(PROBLEM_TYPE)
  const document = Problem.parse(JSON.parse(answer.body))
  expect(document).toMatchObject({ status, code, type: `urn:backstop:error:${code}` })
  expect(document.detail).toMatch(/^[A-Z].{10,}[^.]$/)
}
