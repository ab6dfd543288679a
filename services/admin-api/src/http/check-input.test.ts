import { NewConnection, NewOperation } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { checkInput } from './check-input.ts'

/** Returns the paths of the refused fields. */
function refusedPaths(check: () => unknown): string[] {
  try {
    check()
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request' })
    return (error as { details: { errors: { path: string }[] } }).details.errors.map(({ path }) => path)
  }
  throw new Error('It was not refused')
}

describe('a refused body', () => {
  test('names every invalid and every unknown field', () => {
    const body = { kind: 'processor', name: '', nonsense: 1, other: 2, out_of_band: 'never' }
    const paths = refusedPaths(() => checkInput('body', NewConnection, body))
    expect(paths.toSorted()).toEqual(['body.name', 'body.nonsense', 'body.other', 'body.out_of_band'])
  })

  test('names the whole body if an object in place of a text has a length without a text', () => {
    const body = { kind: 'processor', name: { length: { toString: 0 } } }
    expect(refusedPaths(() => checkInput('body', NewConnection, body))).toEqual(['body'])
  })

  test('names the whole body if it is missing', () => {
    expect(refusedPaths(() => checkInput('body', NewOperation, undefined))).toEqual(['body'])
  })

  test('says what is missing, and what is accepted in place of a wrong value', () => {
    expect(() => checkInput('body', NewConnection, { kind: 'stripe' })).toThrow(
      'body.kind: Give one of processor, reseller, subscription',
    )
    expect(() => checkInput('body', NewConnection, { kind: 'processor' })).toThrow(
      'body.name: It is missing; give text',
    )
    const site = { kind: 'subscription', name: 'x', site: 'acme.example.com' }
    expect(() => checkInput('body', NewConnection, site)).toThrow(/body\.site: Give only the name of the site/)
  })

  test('never repeats a value, which may be a secret', () => {
    const body = { kind: 'reseller', name: 'x', destination_secret: 'canary secret with spaces' }
    expect(() => checkInput('body', NewConnection, body)).toThrow(/destination_secret/)
    expect(() => checkInput('body', NewConnection, body)).not.toThrow(/canary/)
  })

  test('lists fifty of many wrong fields, and says how many more there are', () => {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`field_${at}`, 1]))
    const check = () => checkInput('body', NewConnection, { kind: 'processor', name: 'x', ...body })
    expect(refusedPaths(check)).toHaveLength(50)
    expect(check).toThrow(/\(and 49999 more, of which errors lists 49\)$/)
  })

  test('cuts names of any length', () => {
    const check = () => checkInput('body', NewConnection, { kind: 'processor', name: 'x', ['y'.repeat(100_000)]: 1 })
    expect(refusedPaths(check)[0]).toMatch(/^body\.y{190,200}…$/)
    expect(check).toThrow(/^.{1,300}$/)
  })
})
