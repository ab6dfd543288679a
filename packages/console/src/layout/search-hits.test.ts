import { expect, test } from 'vitest'
import { pathOf } from './search-hits.ts'

test.each([
  ['delivery', 'dlv_1', '/p/prj_1/deliveries/dlv_1'],
  ['channel', 'chn_1', '/p/prj_1/channels/chn_1'],
  ['run', 'nightly/2', '/p/prj_1/runs/nightly%2F2'],
  ['actor', 'acr_1', '/p/prj_1/actors/acr_1'],
  ['customer', 'cus/1', '/p/prj_1/customers/cus%2F1?connection_id=con_1'],
] as const)('a found %s opens its page', (type, id, path) => {
  expect(pathOf({ type, id, project_id: 'prj_1', connection_id: 'con_1' })).toBe(path)
})
