import { Scope } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { decideAccess, decideKeyProject, ownProjectFilter, type Principal, restrictToProject } from './access.ts'

const key = (scopes: Scope[], projectId: string | null = null): Principal => ({ keyId: 'key_1', scopes, projectId })

describe('what a key may do', () => {
  const rows = Scope.options.flatMap(held => Scope.options.map(needed => ({ held, needed })))
  test.each(rows)('a key with $held that needs $needed', ({ held, needed }) => {
    const wanted = held === needed || held === 'admin' ? 'granted' : 'refused'
    expect(decideAccess(key([held]), needed).kind).toBe(wanted)
  })

  test('a key without a scope may do nothing', () => {
    for (const needed of Scope.options) expect(decideAccess(key([]), needed).kind).toBe('refused')
  })
})

describe('the project of a key', () => {
  const rows = [
    { name: 'a key for all lists everything', bound: null, asked: undefined, wanted: {} },
    {
      name: 'a key for all lists the project that is asked for',
      bound: null,
      asked: 'prj_a',
      wanted: { project_id: 'prj_a' },
    },
    { name: 'a bound key lists its own project', bound: 'prj_a', asked: undefined, wanted: { project_id: 'prj_a' } },
    { name: 'a bound key may name its own project', bound: 'prj_a', asked: 'prj_a', wanted: { project_id: 'prj_a' } },
    { name: 'a bound key finds no other project', bound: 'prj_a', asked: 'prj_b', wanted: 'foreign_project' },
  ]
  test.each(rows)('$name', ({ bound, asked, wanted }) => {
    const filter = restrictToProject(key(['read'], bound), asked)
    expect(filter.kind === 'filter' ? filter.where : filter.reason).toEqual(wanted)
  })

  test('narrows every query of a bound key', () => {
    expect(ownProjectFilter(key(['admin'], 'prj_a'))).toEqual({ project_id: 'prj_a' })
    expect(ownProjectFilter(key(['admin']))).toEqual({})
  })

  const grants = [
    { name: 'a key for all makes keys for all', bound: null, asked: undefined, wanted: null },
    { name: 'a key for all makes keys for one project', bound: null, asked: 'prj_b', wanted: 'prj_b' },
    {
      name: 'a bound key makes keys for its own project without being asked',
      bound: 'prj_a',
      asked: undefined,
      wanted: 'prj_a',
    },
    { name: 'a bound key makes no key for another project', bound: 'prj_a', asked: 'prj_b', wanted: 'foreign_project' },
  ]
  test.each(grants)('$name', ({ bound, asked, wanted }) => {
    const grant = decideKeyProject(key(['admin'], bound), asked)
    expect(grant.kind === 'granted' ? grant.projectId : grant.reason).toBe(wanted)
  })
})
