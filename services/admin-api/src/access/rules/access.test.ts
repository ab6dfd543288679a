import { Scope } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { decideAccess, decideKeyProject, decideReach, type Grant, type Principal, restrictToProject } from './access.ts'

const withGrants = (grants: Grant[], projectIds: string[] | null): Principal => ({
  kind: 'person',
  id: 'per_1',
  name: 'Ada',
  sessionId: 'ses_1',
  keyHash: null,
  grants,
  projectIds,
})
const key = (scopes: Scope[], projectId: string | null = null): Principal => ({
  ...withGrants([{ projectId, scopes }], projectId === null ? null : [projectId]),
  kind: 'key',
  id: 'key_1',
  sessionId: null,
  keyHash: null,
})

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
    { name: 'a bound key finds no other project', bound: 'prj_a', asked: 'prj_b', wanted: 'hidden' },
  ]
  test.each(rows)('$name', ({ bound, asked, wanted }) => {
    const filter = restrictToProject(key(['read'], bound), asked)
    expect(filter.kind === 'filter' ? filter.where : filter.reason).toEqual(wanted)
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
    { name: 'a bound key makes no key for another project', bound: 'prj_a', asked: 'prj_b', wanted: 'hidden' },
  ]
  test.each(grants)('$name', ({ bound, asked, wanted }) => {
    const grant = decideKeyProject(key(['admin'], bound), asked)
    expect(grant.kind === 'granted' ? grant.projectId : grant.reason).toBe(wanted)
  })
})

describe('a person with several roles', () => {
  const grants: Grant[] = [
    { projectId: 'prj_a', scopes: ['admin'] },
    { projectId: 'prj_b', scopes: ['read'] },
    { projectId: 'prj_c', scopes: ['read', 'manage'] },
  ]

  test('may call a route in exactly the projects in which a role has its scope', () => {
    const person = withGrants(grants, null)
    expect(decideAccess(person, 'read')).toEqual({ kind: 'granted', projectIds: ['prj_a', 'prj_b', 'prj_c'] })
    expect(decideAccess(person, 'manage')).toEqual({ kind: 'granted', projectIds: ['prj_a', 'prj_c'] })
    expect(decideAccess(person, 'admin')).toEqual({ kind: 'granted', projectIds: ['prj_a'] })
    expect(decideAccess(withGrants(grants.slice(1), null), 'admin').kind).toBe('refused')
    const inAll = withGrants([...grants, { projectId: null, scopes: ['read'] }], null)
    expect(decideAccess(inAll, 'read')).toEqual({ kind: 'granted', projectIds: null })
    expect(decideAccess(inAll, 'admin')).toEqual({ kind: 'granted', projectIds: ['prj_a'] })
  })

  test('is told apart what it may see and what is hidden from it', () => {
    const admin = withGrants(grants, ['prj_a'])
    expect(decideReach(admin, 'prj_a')).toBe('allowed')
    expect(decideReach(admin, 'prj_b')).toBe('visible')
    expect(decideReach(admin, 'prj_d')).toBe('hidden')
    expect(decideReach(admin, null)).toBe('hidden')
  })

  test('names the project of a list, unless only one is possible', () => {
    expect(restrictToProject(withGrants(grants, ['prj_a', 'prj_c']), undefined)).toMatchObject({
      reason: 'several_projects',
    })
    expect(restrictToProject(withGrants(grants, ['prj_a']), undefined)).toMatchObject({
      where: { project_id: 'prj_a' },
    })
    expect(restrictToProject(withGrants(grants, ['prj_a']), 'prj_b')).toMatchObject({ reason: 'visible' })
  })
})
