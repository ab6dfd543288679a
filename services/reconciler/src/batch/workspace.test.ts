import { describe, expect, test } from 'vitest'
import { contextAt, lookFacts, operationSeen, PROJECT, play, refundSeen, T0 } from '../../test/fixtures.ts'
import type { CaseInput } from './work-item.ts'
import { Workspace } from './workspace.ts'

describe('a case that an input does not change', () => {
  const theCase = play([
    { at: T0, input: operationSeen() },
    { at: T0, input: refundSeen() },
  ])
  const own: CaseInput = { kind: 'fact', projectId: PROJECT, refs: theCase.refs, build: () => operationSeen() }

  test.each<{ name: string; caseInput: CaseInput; listed: number }>([
    {
      name: 'is listed completely, because a crash may have lost the listings of the first attempt',
      caseInput: own,
      listed: 1,
    },
    {
      name: 'is not listed when the input was only loaded for a look',
      caseInput: { ...own, kind: 'loaded_fact' },
      listed: 0,
    },
  ])('$name', ({ caseInput, listed }) => {
    const workspace = new Workspace([theCase], contextAt(T0))
    workspace.apply(caseInput, lookFacts())
    expect(workspace.outcomes()[0]?.listing.actions).toHaveLength(listed)
  })
})
