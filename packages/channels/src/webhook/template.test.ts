import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { sampleIncident } from '../../test/samples.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { findTemplateFault, renderTemplate, TEMPLATE_LIMITS } from './template.ts'

const opened = () => SAMPLE_ALERTS['incident.opened']()
const render = (template: string, alert: Alert = opened()) => JSON.parse(renderTemplate(template, alert))

describe('a template', () => {
  test('has text in a string and a JSON value outside of it', () => {
    const template = '{"text": "{{event}}: {{ action.amount }} {{action.currency}}", "amount": {{action.amount}}}'
    expect(findTemplateFault(template)).toBeUndefined()
    expect(render(template)).toEqual({ text: 'incident.opened: 124990 eur', amount: 124_990 })
  })

  test('has the title and the summary of a message, the document and its data', () => {
    const template = '{"t": {{title}}, "s": "{{summary}}", "id": "{{id}}", "at": {{created_at}}, "d": {{data}}}'
    const alert = opened()
    expect(render(template)).toEqual({
      t: expect.stringContaining('refund of EUR 1,249.90'),
      s: expect.stringContaining('EUR 49.90'),
      id: alert.alert_id,
      at: alert.created_at,
      d: alert.data,
    })
  })

  test('has null or an empty text for a field that the alert does not have', () => {
    const template = '{"run": {{run.run_id}}, "text": "Run {{run.run_id}}"}'
    expect(render(template)).toEqual({ run: null, text: 'Run ' })
    expect(render(template, SAMPLE_ALERTS['run.failed']())).toEqual({
      run: 'nightly-refunds-2026-11-21',
      text: 'Run nightly-refunds-2026-11-21',
    })
  })

  test('stays JSON, whatever its values', () => {
    const summary = '", "admin": true, "x": "\\\n\u2028{{id}}\ud800'
    const template = '{"text": "{{incident.summary}}", "summary": {{incident.summary}}}'
    expect(render(template, sampleIncident({ summary }))).toEqual({ text: summary, summary })
  })

  test('has the same bytes at every attempt', () => {
    expect(renderTemplate('{"d": {{data}}}', opened())).toBe(renderTemplate('{"d": {{data}}}', opened()))
  })

  test.each([
    { name: 'quotes in a string', template: '{"a": "\\"{{event}}\\"", "b": {{event}}}' },
    { name: 'a backslash before the end of a string', template: '{"a": "\\\\", "b": {{event}}}' },
    { name: 'closing braces behind a placeholder', template: '{"a":{"b":{{event}}}}' },
    { name: 'no placeholder', template: '{"a": 1}' },
  ])('may have $name', ({ template }) => {
    expect(findTemplateFault(template)).toBeUndefined()
    for (const sample of Object.values(SAMPLE_ALERTS)) expect(() => render(template, sample())).not.toThrow()
  })

  test.each([
    {
      name: 'fields of no alert',
      template: '{"a": "{{incident.sumary}}", "b": {{__proto__.x}}, "c": {{incident.sumary}}}',
      fault: /^No alert has a field for \{\{incident\.sumary\}\}, \{\{__proto__\.x\}\}; use/,
    },
    { name: 'a field with several values', template: '{"a": {{incident}}}', fault: /\{\{incident\}\}/ },
    { name: 'a placeholder that is not closed', template: '{"a": "{{event"}', fault: /^Close each placeholder/ },
    { name: 'a condition', template: '{"a": "{{#if event}}"}', fault: /^Close each placeholder/ },
    { name: 'no JSON', template: 'text={{summary}}', fault: /^Write a JSON document/ },
    { name: 'a placeholder next to a value', template: '{"a": 1{{action.amount}}}', fault: /^Write a JSON document/ },
    { name: 'a placeholder in an escape', template: '{"a": "\\{{run.run_id}}n"}', fault: /^Write a JSON document/ },
    {
      name: 'a placeholder in a code point',
      template: '{"a": "\\u00{{action.customer.name}}41"}',
      fault: /^Write a JSON document/,
    },
    { name: 'a comma too many', template: '{\n "a": {{event}},\n}', fault: /line 3 column 1/ },
    { name: 'the data twice', template: '[{{data}}, {{data}}]', fault: /at most once/ },
    {
      name: 'too many placeholders',
      template: `[${Array(TEMPLATE_LIMITS.placeholders + 1).fill('{{id}}')}]`,
      fault: /^Use at most 100 placeholders/,
    },
  ])('is refused with $name', ({ template, fault }) => expect(findTemplateFault(template)).toMatch(fault))
})
