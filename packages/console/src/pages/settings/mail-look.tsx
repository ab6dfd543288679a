import type { Project } from '@backstop/client'
import { ColorInput, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Facts } from '../../parts/facts.tsx'
import { MessagePreview } from '../channels/message-preview.tsx'
import { Saving } from './saving.tsx'
import classes from './settings.module.css'
import { useProjectChange } from './use-project-change.ts'
import { versionToSave } from './version-to-save.ts'

type Branding = Project['branding']
type Fields = Required<Branding>

const COLOUR = /^#[0-9a-f]{6}$/i

/** The look of the mails of a project, and beside it a mail that has this look. */
export function MailLook({ project, mayChange }: { project: Project; mayChange: boolean }) {
  const [base, setBase] = useState(project)
  const [fields, setFields] = useState(() => fieldsOf(project.branding))
  const change = useProjectChange(project, changed => begin(changed))
  const begin = (from: Project) => {
    setBase(from)
    setFields(fieldsOf(from.branding))
  }
  const faults = findFaults(fields)
  const branding = brandingOf(fields)
  const hasChanges = JSON.stringify(fields) !== JSON.stringify(fieldsOf(base.branding))
  const edit = (changed: Partial<Fields>) => setFields({ ...fields, ...changed })
  const version = versionToSave(base, project, change.error)
  // A half-typed value would be refused, so the mail shows the other ones.
  const shown = brandingOf({
    ...fields,
    ...Object.fromEntries(Object.keys(faults).map(name => [name, ''])),
  })
  return (
    <section className={classes.wide} aria-label="Look of the mails">
      <div className={classes.form}>
        <h2>Look of the mails</h2>
        {mayChange ? (
          <>
            <BrandingFields fields={fields} faults={faults} edit={edit} />
            <Saving
              project={project}
              hasChanges={hasChanges}
              isValid={Object.keys(faults).length === 0}
              isPending={change.isPending}
              error={change.error}
              yours="The look that you typed"
              onSave={() => change.mutate({ patch: { branding }, version })}
              onDiscard={() => {
                begin(project)
                change.reset()
              }}
            />
          </>
        ) : (
          <Facts
            facts={[
              ['Sender', fields.name || 'Backstop'],
              ['Logo', fields.logo_url || 'None'],
              ['Accent colour', fields.accent_colour || 'By the kind of the message'],
              ['Footer', fields.footer || 'None'],
            ]}
          />
        )}
      </div>
      <MessagePreview
        kind="email"
        projectId={project.project_id}
        settings={hasChanges ? { branding: JSON.stringify(shown) } : {}}
      />
    </section>
  )
}

interface FieldsProps {
  fields: Fields
  faults: Partial<Fields>
  edit: (changed: Partial<Fields>) => void
}

function BrandingFields({ fields, faults, edit }: FieldsProps) {
  return (
    <>
      <TextInput
        label="Name in mails"
        placeholder="Backstop"
        maxLength={60}
        value={fields.name}
        onChange={event => edit({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Logo"
        description="An https URL. The mail program of the reader loads it"
        placeholder="https://example.com/logo.png"
        value={fields.logo_url}
        error={faults.logo_url}
        onChange={event => edit({ logo_url: event.currentTarget.value })}
      />
      <ColorInput
        label="Accent colour"
        description="Empty: red, green or grey by the kind of the message"
        placeholder="#4f46e5"
        size="sm"
        format="hex"
        eyeDropperButtonProps={{ 'aria-label': 'Take the colour from the screen' }}
        value={fields.accent_colour}
        error={faults.accent_colour}
        onChange={accent_colour => edit({ accent_colour })}
      />
      <Textarea
        label="Footer"
        description="Plain text at the end of each mail"
        maxLength={500}
        value={fields.footer}
        onChange={event => edit({ footer: event.currentTarget.value })}
      />
    </>
  )
}

function fieldsOf({ name = '', logo_url = '', accent_colour = '', footer = '' }: Branding): Fields {
  return { name, logo_url, accent_colour, footer }
}

/** Without empty fields: an empty field means the look of the installation. */
function brandingOf(fields: Fields): Branding {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, value.trim()])
      .filter(([, value]) => value !== ''),
  )
}

function findFaults({ logo_url, accent_colour }: Fields): Partial<Fields> {
  const isLogo = logo_url.trim() === '' || (/^https:\/\/[^\s/]+\.\S+/.test(logo_url.trim()) && URL.canParse(logo_url))
  const isColour = accent_colour === '' || COLOUR.test(accent_colour)
  return {
    ...(isLogo ? {} : { logo_url: 'Give an https URL' }),
    ...(isColour ? {} : { accent_colour: 'Give a colour as #rrggbb' }),
  }
}
