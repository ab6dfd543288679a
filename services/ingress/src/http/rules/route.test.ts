import { describe, expect, test } from 'vitest'
import { routeRequest } from './route.ts'

describe('the only path of ingress', () => {
  test.each([
    { name: 'processor', target: '/v1/webhooks/processor/con_1' },
    { name: 'a query behind it', target: '/v1/webhooks/processor/con_1?source=stripe' },
    { name: 'the absolute form of a proxy', target: 'http://hooks.example.com/v1/webhooks/processor/con_1' },
  ])('is found with $name', ({ target }) => {
    expect(routeRequest('POST', target)).toEqual({ kind: 'webhook', provider: 'processor', connectionId: 'con_1' })
  })

  test.each(['reseller', 'subscription'])('exists for %s', provider => {
    expect(routeRequest('POST', `/v1/webhooks/${provider}/con_1`)).toMatchObject({ kind: 'webhook', provider })
  })

  test('takes any text as a connection id: an unknown one is refused like a wrong signature', () => {
    expect(routeRequest('POST', '/v1/webhooks/processor/%00..')).toMatchObject({ connectionId: '%00..' })
  })

  test.each([
    '/',
    '',
    '*',
    '/v1/webhooks',
    '/v1/webhooks/',
    '/v1/webhooks/processor',
    '/v1/webhooks/processor/',
    '/v1/webhooks/processor/con_1/',
    '/v1/webhooks/processor/con_1/more',
    '/v1/webhooks/processor/?con_1',
    '/v1/webhooks/paypal/con_1',
    '/v1/webhooks/Processor/con_1',
    '/v1/webhooks/toString/con_1',
    '/v2/webhooks/processor/con_1',
    '//v1/webhooks/processor/con_1',
    '/healthz',
    'http://hooks.example.com',
  ])('is not %s', target => {
    expect(routeRequest('POST', target)).toEqual({ kind: 'not_found' })
  })

  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'post'])('does not take %s', method => {
    expect(routeRequest(method, '/v1/webhooks/reseller/con_1')).toEqual({ kind: 'method_not_allowed', allow: 'POST' })
  })
})
