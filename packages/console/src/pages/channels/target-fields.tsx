import { PasswordInput, Select, Textarea, TextInput, UnstyledButton } from '@mantine/core'
import type { FormProps } from './draft.ts'
import { nameKind } from './words.ts'

interface Props extends FormProps {
  isNew: boolean
  headerNames: readonly string[]
}

const PAGERDUTY_URLS = [
  { value: '', label: 'Elsewhere' },
  { value: 'https://events.eu.pagerduty.com/v2/enqueue', label: 'In the EU' },
]
const KEPT = 'Saved; type to replace it'

/** The fields of the kind of the channel: where its messages go. */
export function TargetFields({ draft, faults, change, isNew, headerNames }: Props) {
  switch (draft.kind) {
    case 'slack':
    case 'teams':
    case 'discord':
      return (
        <PasswordInput
          label="URL of the incoming webhook"
          description={`Copy it from ${nameKind(draft.kind)}. Nobody can read it here again`}
          required={isNew}
          autoComplete="off"
          placeholder={isNew ? 'https://…' : KEPT}
          value={draft.webhookUrl}
          error={faults.webhookUrl}
          onChange={event => change({ webhookUrl: event.currentTarget.value })}
        />
      )
    case 'email':
      return (
        <Textarea
          label="Addresses"
          description="One on each line. Each gets a mail of its own"
          required
          placeholder="on-call@example.com"
          value={draft.to}
          error={faults.to}
          onChange={event => change({ to: event.currentTarget.value })}
        />
      )
    case 'pagerduty':
      return (
        <>
          <PasswordInput
            label="Integration Key"
            description="Of an integration of the type Events API v2. Nobody can read it here again"
            required={isNew}
            autoComplete="off"
            placeholder={isNew ? '' : KEPT}
            value={draft.routingKey}
            error={faults.routingKey}
            onChange={event => change({ routingKey: event.currentTarget.value })}
          />
          {isNew && (
            <Select
              label="Where is the PagerDuty account?"
              data={PAGERDUTY_URLS}
              value={draft.eventsUrl}
              onChange={eventsUrl => change({ eventsUrl: eventsUrl ?? '' })}
            />
          )}
        </>
      )
    case 'webhook':
      return <WebhookFields draft={draft} faults={faults} change={change} isNew={isNew} headerNames={headerNames} />
    default:
      return draft.kind satisfies never
  }
}

function WebhookFields({ draft, faults, change, isNew, headerNames }: Props) {
  return (
    <>
      <TextInput
        label="URL"
        required
        placeholder="https://example.com/hooks"
        value={draft.url}
        error={faults.url}
        onChange={event => change({ url: event.currentTarget.value })}
      />
      {isNew && (
        <PasswordInput
          label="Signing secret"
          description="Signs each request. Without it, requests are not signed"
          autoComplete="off"
          value={draft.secret}
          onChange={event => change({ secret: event.currentTarget.value })}
        />
      )}
      {draft.headers === undefined ? (
        <div>
          <p>Headers</p>
          <p className="dim">
            {headerNames.length === 0 ? 'None' : headerNames.join(', ')}{' '}
            <UnstyledButton className="link" onClick={() => change({ headers: '' })}>
              Replace
            </UnstyledButton>
          </p>
        </div>
      ) : (
        <Textarea
          label="Headers"
          description={isNew ? 'One on each line. Nobody can read the values here again' : 'Replaces all saved headers'}
          placeholder="Authorization: Bearer …"
          value={draft.headers}
          error={faults.headers}
          onChange={event => change({ headers: event.currentTarget.value })}
        />
      )}
      <Textarea
        label="Template"
        description="JSON with placeholders such as {{title}}. Empty: the document of Backstop"
        placeholder={'{"message": "{{title}}", "details": {{data}}}'}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
        maxRows={14}
        value={draft.template}
        error={faults.template}
        onChange={event => change({ template: event.currentTarget.value })}
      />
    </>
  )
}
