import { Problem } from '@backstop/contracts'
import { PROBLEM_TYPE } from '@backstop/kit'
import { expect } from 'vitest'
import type { HttpAnswer } from './http-client.ts'

/** Expects a problem document of that status and code whose detail is a sentence for a person. */
export function expectProblem(answer: HttpAnswer, status: number, code: string, retryAfter?: string): void {
  expect(answer.headers['retry-after']).toBe(retryAfter)
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe(PROBLEM_TYPE)
  const document = Problem.parse(JSON.parse(answer.body))
  expect(document).toMatchObject({ status, code, type: `urn:backstop:error:${code}` })
  expect(document.detail).toMatch(/^[A-Z].{10,}[^.]$/)
}
