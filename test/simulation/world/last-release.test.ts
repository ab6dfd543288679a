import { MESSAGES, type MessageName } from '@backstop/contracts'
import { samples } from '@backstop/contracts/test'
import { describe, expect, test } from 'vitest'
import { withoutNewFields } from './last-release.ts'

const all = (Object.keys(MESSAGES) as MessageName[]).flatMap(name => samples(name).map(sample => ({ name, ...sample })))
const sampleOf = (title: string) => all.find(sample => sample.title === title)!

describe('messages of the last release', () => {
  test.each(all.filter(({ release }) => release !== 'next'))('$name $title of $release is unchanged', sample => {
    expect(withoutNewFields(sample.name, sample.message)).toEqual(sample.message)
  })

  test('a field that only this version knows is dropped, in a union too', () => {
    const alert = sampleOf('authorization-released').message as { data: { action: object } }
    expect(JSON.stringify(alert)).toContain('authorization_released')
    expect(JSON.stringify(withoutNewFields('alert', alert))).not.toContain('authorization_released')
  })

  test('a kind of message that only this version knows cannot be read', () => {
    expect(withoutNewFields('command', sampleOf('open-recovered-key-incident').message)).toBeUndefined()
  })
})
