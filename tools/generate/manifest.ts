import { readFileSync, readdirSync } from 'node:fs';
import { create, ts } from '@custom-elements-manifest/analyzer';
import { litPlugin } from '@custom-elements-manifest/analyzer/src/features/framework-plugins/lit/lit.js';

import { PluginEditorElement } from '../../src/plugin-editor.ts';
import { PluginFeaturesElement } from '../../src/plugin-features.ts';

/** The parts of a custom elements manifest that are used here; see https://github.com/webcomponents/custom-elements-manifest. */
export interface Manifest {
  schemaVersion: string;
  modules: Module[];
}

export interface Module {
  path: string;
  declarations: Declaration[];
  exports: { kind: string; name: string; declaration: Reference }[];
}

export interface Reference {
  name: string;
  module?: string;
  package?: string;
}

/** Anything with a name and a description. */
export interface Documented {
  name: string;
  description?: string;
}

export interface Typed extends Documented {
  type?: { text: string };
  default?: string;
}

/** A class: an element if it has a tag name, else an event. */
export interface Declaration extends Documented {
  kind: string;
  tagName?: string;
  superclass?: Reference;
  attributes?: (Typed & { fieldName: string })[];
  members?: Member[];
  events?: Typed[];
  slots?: Documented[];
  cssParts?: Documented[];
  cssStates?: Documented[];
  cssProperties?: Typed[];
}

export interface Member extends Typed {
  kind: 'field' | 'method';
  attribute?: string;
  reflects?: boolean;
  readonly?: boolean;
  static?: boolean;
  privacy?: string;
  inheritedFrom?: Reference;
  parameters?: (Typed & { optional?: boolean })[];
  return?: { type: { text: string } };
}

const CLASSES = [PluginEditorElement, PluginFeaturesElement];

/**
 * Makes the custom elements manifest, `custom-elements.json`, of the doc comments of both elements and of their events.
 */
export function createManifest(): Manifest {
  const paths = [
    'src/plugin-editor.ts',
    'src/plugin-features.ts',
    ...readdirSync('src/element').map((name) => `src/element/${name}`),
  ];
  const modules = paths.map((path) =>
    ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true),
  );
  const plugins = [...litPlugin(), attributesOfClasses, publicOnly, inOneLine, pathsOfPackage];
  return create({ modules, plugins, context: { dev: false, thirdPartyCEMs: [] } });
}

/** Takes names, types and defaults of attributes from the classes themselves, where they are computed. */
const attributesOfClasses = {
  name: 'attributes-of-classes',
  packageLinkPhase({ customElementsManifest }: { customElementsManifest: Manifest }) {
    for (const elementClass of CLASSES) {
      const declaration = declarationsOf(customElementsManifest).find(
        ({ name }) => name === elementClass.name,
      );
      if (!declaration?.members)
        throw new Error(`${elementClass.name} is not declared in a file that the manifest is made of.`);
      const element = new elementClass() as unknown as Record<string, unknown>;
      const attributes = new Map<string, string>();
      const reflected = new Set<string>();
      for (const [name, { attribute, reflect }] of elementClass.elementProperties) {
        if (attribute === false) continue;
        attributes.set(
          name as string,
          typeof attribute === 'string' ? attribute : (name as string).toLowerCase(),
        );
        if (reflect) reflected.add(name as string);
      }
      declaration.attributes = [];
      for (const member of declaration.members) {
        const name = attributes.get(member.name);
        if (!name) continue;
        if (!member.description)
          throw new Error(`${elementClass.name}: the property ${member.name} needs a doc comment`);
        const value = element[member.name];
        member.attribute = name;
        if (reflected.has(member.name)) member.reflects = true;
        if (value !== undefined && value !== '') member.default = asCode(value);
        declaration.attributes.push({
          name,
          fieldName: member.name,
          // `null` and `undefined` stand for a missing attribute, and cannot be written as its value.
          type: { text: (member.type?.text ?? '').replace(/ \| (?:null|undefined)/g, '') },
          ...(member.default && { default: member.default }),
          description: member.description ?? '',
        });
        attributes.delete(member.name);
      }
      for (const name of attributes.keys())
        throw new Error(
          `${elementClass.name}: the property ${name} must be declared in the class, with a doc comment.`,
        );
    }
  },
};

const asCode = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

/** Removes what is not public: internal modules and classes, and private members. */
const publicOnly = {
  name: 'public-only',
  packageLinkPhase({ customElementsManifest: manifest }: { customElementsManifest: Manifest }) {
    for (const module of manifest.modules) {
      module.declarations = module.declarations.filter(
        ({ kind, name, tagName }) => kind === 'class' && (tagName || /^Plugin\w*Event$/.test(name)),
      );
      const kept = new Set(module.declarations.map(({ name }) => name));
      module.exports = module.exports.filter(
        ({ kind, name }) =>
          kind === 'custom-element-definition' || kept.has(name) || !isInternal(module.path),
      );
      for (const declaration of module.declarations) {
        declaration.members = (declaration.members ?? []).filter(isPublic);
        for (const member of declaration.members) {
          delete member.privacy;
          if (declaration.tagName) delete member.inheritedFrom;
        }
        if (declaration.tagName) declaration.superclass = { name: 'LitElement', package: 'lit' };
        if (declaration.superclass?.name === 'Event') declaration.superclass = { name: 'Event' };
        // The analyzer adds an event without a name for each that the class dispatches.
        if (declaration.events) declaration.events = declaration.events.filter(({ name }) => name);
      }
    }
    manifest.modules = manifest.modules.filter(
      (module) => module.declarations.length > 0 || !isInternal(module.path),
    );
  },
};

const isInternal = (path: string) => path.includes('/element/');

const isPublic = ({ name, privacy, static: isStatic }: Member) =>
  !name.startsWith('#') && privacy !== 'private' && privacy !== 'protected' && !isStatic;

/** Joins the lines of comments, which are wrapped at the width of these sources. */
const inOneLine = {
  name: 'in-one-line',
  packageLinkPhase({ customElementsManifest }: { customElementsManifest: Manifest }) {
    for (const declaration of declarationsOf(customElementsManifest)) {
      const { members = [], attributes = [] } = declaration;
      for (const one of [declaration, ...members, ...attributes]) {
        if (one.description) one.description = one.description.replace(/([^\n])\n(?!\n)/g, '$1 ');
      }
    }
  },
};

/** Replaces the paths of sources by those of the built files. */
const pathsOfPackage = {
  name: 'paths-of-package',
  packageLinkPhase({ customElementsManifest }: { customElementsManifest: Manifest }) {
    const declaring = customElementsManifest.modules.map(({ path, declarations }) => ({
      path,
      declarations,
    }));
    /** The module that declares a class; entries only export it again. */
    const placeOf = (name: string) =>
      declaring.find(({ declarations }) => declarations.some((one) => one.name === name))?.path;
    const built = (path: string) => path.replace(/^\/?src\/(.*)\.ts$/, 'dist/$1.js');
    for (const module of customElementsManifest.modules) {
      module.path = built(module.path);
      for (const { superclass, members = [] } of module.declarations) {
        for (const reference of [superclass, ...members.map(({ inheritedFrom }) => inheritedFrom)]) {
          if (reference?.module) reference.module = built(reference.module);
        }
      }
      for (const { declaration } of module.exports)
        declaration.module = built(placeOf(declaration.name) ?? declaration.module ?? module.path);
    }
  },
};

const declarationsOf = ({ modules }: Manifest): Declaration[] =>
  modules.flatMap(({ declarations }) => declarations);
