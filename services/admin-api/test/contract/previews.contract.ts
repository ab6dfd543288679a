import { PreviewQuery, WEBHOOK_EVENTS } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

const PAGE = /^text\/html/
const EVENTS = PreviewQuery.shape.event.unwrap().options.filter(event => event !== 'digest')

export function describePreviews(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('a preview', () => {
    test('is the mail that would be sent, as a page, as text and as both', async () => {
      const { projectId } = await createTestProject(api())
      const html = await api().get(`/v1/previews?project_id=${projectId}`)
      expect(html.status).toBe(200)
      expect(html.headers.get('content-type')).toMatch(PAGE)
      expect(html.headers.get('content-security-policy')).toMatch(/default-src 'none'.*sandbox/)
      expect(html.body).toContain('Unexplained refund of EUR 1,249.90')
      const text = await api().get('/v1/previews?event=incident.resolved&format=text')
      expect(text.headers.get('content-type')).toMatch(/^text\/plain/)
      expect(text.body).toMatch(/^Resolved: the refund/)
      const { body } = await api().get('/v1/previews?event=channel.test&format=json')
      expect(body).toEqual({
        subject: '[Backstop] Test of this alert channel',
        text: expect.any(String),
        html: expect.any(String),
      })
    })

    test('is the Slack message that would be posted, and a page that shows it', async () => {
      const json = await api().get('/v1/previews?kind=slack&format=json')
      expect(json.body).toMatchObject({
        text: expect.stringMatching(/^Unexplained refund of EUR 1,249\.90 · Jana Novak · Shop Germany\n25 × what /),
        blocks: [
          { type: 'header' },
          { type: 'section' },
          { type: 'section' },
          { type: 'section' },
          { type: 'actions' },
          { type: 'context' },
        ],
      })
      const html = await api().get('/v1/previews?kind=slack')
      expect(html.headers.get('content-type')).toMatch(PAGE)
      expect(html.headers.get('content-security-policy')).toMatch(/default-src 'none'.*sandbox/)
      expect(html.body).toContain('<h1>Unexplained refund of EUR 1,249.90 · Jana Novak · Shop Germany</h1>')
      const text = await api().get('/v1/previews?kind=slack&format=text')
      expect(text.body).toBe(json.body.text)
      const digest = await api().get('/v1/previews?kind=slack&event=digest&format=json')
      expect(digest.body.text).toMatch(/^25 alerts in one message: /)
    })

    test('is the document that a webhook would receive', async () => {
      const { projectId } = await createTestProject(api())
      const json = await api().get(`/v1/previews?kind=webhook&format=json&project_id=${projectId}`)
      expect(json.body).toMatchObject({
        id: expect.stringMatching(/^alr_/),
        event: 'incident.opened',
        project_id: projectId,
        data: { incident: { code: 'UNEXPECTED_ACTION' }, action: { kind: 'refund' } },
      })
      const text = await api().get(`/v1/previews?kind=webhook&format=text&project_id=${projectId}`)
      expect(text.headers.get('content-type')).toMatch(/^text\/plain/)
      expect(text.body).toEqual(json.body)
      expect((await api().get('/v1/previews?kind=webhook')).body).toEqual(
        (await api().get('/v1/previews?kind=webhook&format=json')).body,
      )
    })

    test('has a look and a template that are not saved yet, and hides personal data on request', async () => {
      const branding = encodeURIComponent(
        JSON.stringify({ name: 'Not saved yet', footer: '<script>alert(1)</script>' }),
      )
      const mail = await api().get(`/v1/previews?branding=${branding}&shows_personal_data=false`)
      expect(mail.body).toContain('Not saved yet')
      expect(mail.body).toContain('&lt;script&gt;')
      expect(mail.body).not.toMatch(/<script|Jana Novak/)
      expect((await api().get('/v1/previews')).body).toContain('Jana Novak')
      const template = encodeURIComponent('{"text": "{{title}}"}')
      const document = await api().get(`/v1/previews?kind=webhook&template=${template}`)
      expect(document.body).toEqual({ text: 'Unexplained refund of EUR 1,249.90 · Jana Novak · Shop Germany' })
    })

    test.each(PreviewQuery.shape.kind.unwrap().options)(
      'of kind %s exists for every event that it gets',
      async kind => {
        for (const event of kind === 'webhook' ? WEBHOOK_EVENTS : EVENTS) {
          const answer = await api().get(`/v1/previews?kind=${kind}&event=${event}&format=json`)
          expect({ event, status: answer.status }).toEqual({ event, status: 200 })
          if (kind === 'webhook') expect(answer.body.event).toBe(event)
        }
      },
    )

    test.each([
      { name: 'the report of a storm for programs', query: 'kind=webhook&event=storm.reported', path: 'query.event' },
      { name: 'a page of a document for programs', query: 'kind=webhook&format=html', path: 'query.format' },
      { name: 'a digest for a pager', query: 'kind=pagerduty&event=digest', path: 'query.event' },
      { name: 'a digest for a webhook', query: 'kind=webhook&event=digest', path: 'query.event' },
      { name: 'a look that is not JSON', query: 'branding=%7B', path: 'query.branding' },
      { name: 'a template for a mail', query: 'template=%7B%7D', path: 'query.template' },
      { name: 'a template with an unknown field', query: 'kind=webhook&template={{no}}', path: 'query.template' },
      { name: 'an event that there is not', query: 'event=incident.closed', path: 'query.event' },
    ])('of $name is refused', async ({ query, path }) => {
      const answer = await api().get(`/v1/previews?${query}`)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path }] } })
    })
  })
}
