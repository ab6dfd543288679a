import { describe, expect, test } from 'vitest'
import { contextAt, lookFacts, operationSeen, PROJECT, play, refundSeen, T0 } from '../../test/fixtures.ts'
import type { Touch } from './work-item.ts'
import { Workspace } from './workspace.ts'

describe('a case that an input does not change', () => {
  const theCase = play([
    { at: T0, input: operationSeen() },
    { at: T0, input: refundSeen() },
  ])
  const own: Touch = { kind: 'fact', projectId: PROJECT, refs: theCase.refs, input: () => operationSeen() }

  test.each<{ name: string; touch: Touch; listed: number }>([
    { name: 'is listed whole, as it may be the repeat of one whose listings were lost', touch: own, listed: 1 },
    {
      name: 'is not listed when the touch was only loaded for a look',
      touch: { ...own, kind: 'loaded_fact' },
      listed: 0,
    },
  ])('$name', ({ touch, listed }) => {
    const workspace = new Workspace([theCase], contextAt(T0))
    workspace.apply(touch, lookFacts())
    expect(workspace.outcomes()[0]?.listing.actions).toHaveLength(listed)
  })
})
