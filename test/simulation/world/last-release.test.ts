import { MESSAGES, type MessageName } from '@backstop/contracts'
import { samples } from '@backstop/contracts/test'
import { describe, expect, test } from 'vitest'
import { withoutNewFields } from './last-release.ts'

const all = (Object.keys(MESSAGES) as MessageName[]).flatMap(name => samples(name).map(sample => ({ name, ...sample })))
const sampleOf = (title: string) => all.find(sample => sample.title === title)!

describe('a message', () => {
  test.each(all.filter(({ release }) => release !== 'next'))(
    '$name $title of $release is unchanged for $release',
    sample => {
      expect(withoutNewFields(sample.name, sample.message, sample.release)).toEqual(sample.message)
    },
  )

  test('loses a field that a release does not know, in a union too', () => {
    const alert = sampleOf('authorization-released').message as { data: { action: object } }
    expect(JSON.stringify(alert)).toContain('authorization_released')
    expect(JSON.stringify(withoutNewFields('alert', alert, '0.2.0'))).not.toContain('authorization_released')
  })

  test('of a kind that a release does not know cannot be read', () => {
    expect(withoutNewFields('command', sampleOf('open-recovered-key-incident').message, '0.2.0')).toBeUndefined()
  })
})
