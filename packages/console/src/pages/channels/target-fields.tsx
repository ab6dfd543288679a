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
export function TargetFields(props: Props) {
  const { draft, faults, field, isNew } = props
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
          error={faults.webhookUrl}
          {...field('webhookUrl')}
        />
      )
    case 'email':
      return (
        <Textarea
          label="Addresses"
          description="One on each line. Each gets a mail of its own"
          required
          placeholder="on-call@example.com"
          error={faults.to}
          {...field('to')}
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
            error={faults.routingKey}
            {...field('routingKey')}
          />
          {isNew && <Select label="Where is the PagerDuty account?" data={PAGERDUTY_URLS} {...field('eventsUrl')} />}
        </>
      )
    case 'webhook':
      return <WebhookFields {...props} />
    default:
      return draft.kind satisfies never
  }
}

function WebhookFields({ draft, faults, field, edit, isNew, headerNames }: Props) {
  return (
    <>
      <TextInput label="URL" required placeholder="https://example.com/hooks" error={faults.url} {...field('url')} />
      {isNew && (
        <PasswordInput
          label="Signing secret"
          description="Signs each request. Without it, requests are not signed"
          autoComplete="off"
          {...field('secret')}
        />
      )}
      {draft.headers === undefined ? (
        <div>
          <p>Headers</p>
          <p className="dim">
            {headerNames.length === 0 ? 'None' : headerNames.join(', ')}{' '}
            <UnstyledButton className="link" onClick={() => edit({ headers: '' })}>
              Replace
            </UnstyledButton>
          </p>
        </div>
      ) : (
        <Textarea
          label="Headers"
          description={isNew ? 'One on each line. Nobody can read the values here again' : 'Replaces all saved headers'}
          placeholder="Authorization: Bearer …"
          error={faults.headers}
          {...field('headers')}
          value={draft.headers}
        />
      )}
      <Textarea
        label="Template"
        description="JSON with placeholders such as {{title}}. Empty: the document of Backstop"
        placeholder={'{"message": "{{title}}", "details": {{data}}}'}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
        maxRows={14}
        error={faults.template}
        {...field('template')}
      />
    </>
  )
}
