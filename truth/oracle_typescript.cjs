// What TypeScript's checker knows about a project: one line of JSON with a folder in, one line of JSON with its symbols out.
//
// This is no language server: every identifier of every file is given to the checker (`getSymbolAtLocation`), and the symbols that this
// yields are grouped by their declarations. Nothing here searches for references.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const ts = require(process.argv[2]);

const kept = new Map(); // path → {text, file}: trees of files that have not changed
const programs = new Map(); // folder → the last program, of which the next one reuses what it can

function program(dir) {
  const at = path.join(dir, 'tsconfig.json');
  const read = ts.readConfigFile(at, ts.sys.readFile);
  if (read.error) throw new Error(ts.flattenDiagnosticMessageText(read.error.messageText, ' '));
  const config = ts.parseJsonConfigFileContent(read.config, ts.sys, dir);
  const options = {...config.options, noEmit: true, incremental: false, composite: false};
  const host = ts.createCompilerHost(options, true);
  const parse = host.getSourceFile;
  host.getSourceFile = (name, target, ...rest) => {
    const text = ts.sys.readFile(name);
    if (text === undefined) return undefined;
    const known = kept.get(name);
    if (known && known.text === text) return known.file;
    const file = parse(name, target, ...rest);
    kept.set(name, {text, file});
    return file;
  };
  const made = ts.createProgram(config.fileNames, options, host, programs.get(dir));
  programs.set(dir, made);
  return made;
}

function errors(made, inside) {
  const found = made.getConfigFileParsingDiagnostics().concat(made.getOptionsDiagnostics(), made.getSyntacticDiagnostics(), made.getSemanticDiagnostics());
  return found.map((one) => {
    const line = one.file ? one.file.getLineAndCharacterOfPosition(one.start).line + 1 : 0;
    const text = ts.flattenDiagnosticMessageText(one.messageText, ' ');
    return {file: one.file ? inside(one.file.fileName) : '', line, code: `TS${one.code}`, text};
  });
}

function isRequire(node, file) {
  return node && ts.isCallExpression(node) && node.expression.getText(file) === 'require';
}

class Reader {
  constructor(made, dir) {
    this.checker = made.getTypeChecker();
    this.made = made;
    this.dir = dir;
    this.files = [];
    this.numbers = new Map();
    this.symbols = new Map(); // id → what is sent
    this.ids = new Map(); // the checker's symbol → id, '' for one without a name
    this.unread = {};
    this.above = new Map(); // union–find of families
    this.below = []; // [base, derived] of types
    this.exported = new Map(); // file → the id of what `module.exports = name` exports
    this.loaded = []; // [id, node of a module's name] of what a default import gets
  }

  inside(name) {
    const relative = path.relative(this.dir, name);
    return relative.startsWith('..') || relative.split(path.sep).includes('node_modules') ? `/${name}` : relative;
  }

  read() {
    const own = this.made.getSourceFiles().filter((file) => !this.inside(file.fileName).startsWith('/'));
    for (const file of own) this.walk(file, file, false);
    for (const [id, module] of this.loaded) {
      const file = this.checker.getSymbolAtLocation(module)?.valueDeclaration;
      if (file && this.exported.has(file)) this.join(id, this.exported.get(file));
    }
    for (const symbol of this.symbols.values()) symbol.family = this.root(symbol.id);
    for (const [base, derived] of this.below) {
      for (const one of this.symbols.get(base) ? [base] : []) this.symbols.get(one).derived.push(derived);
    }
    return {
      files: this.files, symbols: [...this.symbols.values()], unread: this.unread, broken: errors(this.made, (name) => this.inside(name)),
    };
  }

  number(file) {
    const name = this.inside(file.fileName);
    if (!this.numbers.has(name)) {
      this.numbers.set(name, this.files.length);
      this.files.push(name);
    }
    return this.numbers.get(name);
  }

  // Line and character from 1, in code points.
  place(file, position) {
    const {line} = file.getLineAndCharacterOfPosition(position);
    const start = file.getLineStarts()[line];
    const bom = 0;
    return [this.number(file), line + 1, [...file.text.slice(start, position)].length + 1 - bom];
  }

  walk(node, file, comment) {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) this.identifier(node, file, comment);
    else if (node.kind === ts.SyntaxKind.ThisKeyword || node.kind === ts.SyntaxKind.SuperKeyword) this.keyword(node, file);
    else if (ts.isStringLiteralLike(node) && this.names(node)) this.named(node, file);
    else if (ts.isExportAssignment(node) && ts.isIdentifier(node.expression)) this.standard(node, file);
    else if (ts.isBinaryExpression(node) && /^module\.exports$/.test(node.left.getText(file)) && ts.isIdentifier(node.right)) {
      this.exported.set(file, this.resolved(node.right).map((one) => this.id(one)).find(Boolean));
    } else if (ts.isImportClause(node) && node.name) {
      this.loaded.push([this.id(this.checker.getSymbolAtLocation(node.name)), node.parent.moduleSpecifier]);
    } else if (ts.isVariableDeclaration(node) && isRequire(node.initializer, file)) this.required(node);
    else if (ts.isVariableDeclaration(node) && node.initializer && ts.isPropertyAccessExpression(node.initializer)
      && isRequire(node.initializer.expression, file) && ts.isIdentifier(node.name)) {
      const own = this.id(this.checker.getSymbolAtLocation(node.name));
      for (const target of this.aliases(this.checker.getSymbolAtLocation(node.initializer.name))) this.join(own, this.id(target));
    }
    if (ts.isBinaryExpression(node) && /^module\.exports$/.test(node.left.getText(file)) && ts.isObjectLiteralExpression(node.right)) {
      for (const one of node.right.properties) this.passed(one);
    }
    if (ts.isBinaryExpression(node) && /^(?:module\.)?exports\.[\w$]+$/.test(node.left.getText(file)) && ts.isIdentifier(node.right)) {
      const own = this.id(this.checker.getSymbolAtLocation(node.left.name));
      for (const target of this.aliases(this.checker.getSymbolAtLocation(node.right))) this.pass(this.id(target), own, node.left.name);
    }
    if ((ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) && node.name) this.heritage(node);
    for (const doc of node.jsDoc || []) this.walk(doc, file, true);
    ts.forEachChild(node, (child) => this.walk(child, file, comment));
  }

  // `this` in a static method is the class: a server may list it.
  keyword(node, file) {
    const id = this.id(this.checker.getSymbolAtLocation(node));
    if (id) this.symbols.get(id).allowed.push(...this.place(file, node.getStart(file)));
  }

  // A variable of a module, or of what it exports: a server may take it for that.
  required(node) {
    const [module] = node.initializer.arguments;
    if (ts.isIdentifier(node.name)) {
      const id = this.id(this.checker.getSymbolAtLocation(node.name));
      if (id && module) this.loaded.push([id, module]);
    }
    for (const one of ts.isObjectBindingPattern(node.name) ? node.name.elements : []) {
      if (!ts.isIdentifier(one.name)) continue;
      const symbol = this.checker.getSymbolAtLocation(one.name);
      const property = this.checker.getPropertyOfType(this.checker.getTypeAtLocation(node.name), (one.propertyName || one.name).text);
      for (const target of property ? this.aliases(property) : []) this.pass(this.id(target), this.id(symbol), one.name);
    }
  }

  // A property of what a module exports, and the variable that it has: a server may take it for that.
  passed(property) {
    const {name, initializer} = property;
    if (!name || !ts.isIdentifier(name)) return;
    const isShort = ts.isShorthandPropertyAssignment(property);
    if (!isShort && !(initializer && ts.isIdentifier(initializer))) return;
    const own = this.id(this.checker.getSymbolAtLocation(name));
    const value = isShort ? this.checker.getShorthandAssignmentValueSymbol(property) : this.checker.getSymbolAtLocation(initializer);
    for (const target of this.aliases(value)) {
      this.pass(this.id(target), own, name);
    }
  }

  // `own` stands for `id` where it is called `name`.
  pass(id, own, name) {
    this.join(own, id);
    if (own && id && own !== id && this.symbols.get(id).name === spelled(name)) this.symbols.get(id).passed.push(own);
  }

  // `default` in `export default name`, by which others import it: a server may list it.
  standard(node, file) {
    const at = node.getChildren(file).find((one) => one.kind === ts.SyntaxKind.DefaultKeyword);
    for (const symbol of at ? this.resolved(node.expression) : []) {
      const id = this.id(symbol);
      if (id) this.symbols.get(id).allowed.push(...this.place(file, at.getStart(file)));
    }
  }

  // A quoted name of a member: a server may list it.
  names(node) {
    const up = node.parent;
    return (up.name === node || up.propertyName === node || (ts.isElementAccessExpression(up) && up.argumentExpression === node)
      || (ts.isLiteralTypeNode(up) && ts.isIndexedAccessTypeNode(up.parent)));
  }

  named(node, file) {
    for (const symbol of this.resolved(node)) {
      const id = this.id(symbol);
      if (id) this.symbols.get(id).allowed.push(...this.place(file, node.getStart(file) + 1));
    }
    const word = node.text;
    if (/^[\w$]+$/.test(word)) this.unknown(word, file, node.getStart(file) + 1);
  }

  unknown(word, file, position) {
    const [, line, character] = this.place(file, position);
    const words = (this.unread[this.inside(file.fileName)] ||= {});
    (Object.hasOwn(words, word) ? words[word] : (words[word] = [])).push(line, character);
  }

  identifier(node, file, comment) {
    const start = begins(node);
    if (start === node.end || node.text === 'this') return; // missing, or no name
    if (ts.isInJSFile(node) && /^(?:module|exports)$/.test(node.text)) return;
    const at = this.place(file, start);
    const found = new Map();
    for (const [symbol, form] of this.meant(node)) {
      const id = this.id(symbol);
      if (id && !found.has(id)) found.set(id, form);
    }
    if (!found.size) {
      if (!comment && !this.nameless(node)) this.unknown(spelled(node), file, start);
      return;
    }
    if (ts.isObjectLiteralExpression(node.parent.parent) && node.parent.name === node) {
      for (const one of this.contextual(node.parent)) {
        const id = this.id(one);
        if (id && !found.has(id)) this.symbols.get(id).allowed.push(...at);
      }
    }
    for (const [id, form] of found) {
      const symbol = this.symbols.get(id);
      if (comment) {
        symbol.allowed.push(...at);
        continue;
      }
      symbol.uses.push(...at);
      if (form) symbol.forms.push([...at, form]);
      if (called(node)) symbol.calls.push(...at);
    }
  }

  // `undefined`, labels, `arguments`, meta properties, attributes of imports: nothing that a tree declares.
  nameless(node) {
    const up = node.parent;
    return node.text === 'undefined' || node.text === 'arguments' || ts.isLabeledStatement(up) || ts.isBreakOrContinueStatement(up)
      || ts.isMetaProperty(up) || node.text === 'const' || (up.kind === ts.SyntaxKind.TypePredicate && up.parameterName === node && node.text === 'this')
      || up.kind === ts.SyntaxKind.NamespaceExport || up.kind === ts.SyntaxKind.NamespaceExportDeclaration;
  }

  // The symbols that an identifier names, and how a rename writes each: 1 `old: new`, 2 `new: old`.
  meant(node) {
    const up = node.parent;
    const taken = this.taken(node);
    if (ts.isShorthandPropertyAssignment(up) && up.name === node) {
      const value = this.checker.getShorthandAssignmentValueSymbol(up);
      return [
        ...this.aliases(value).map((one) => [one, 1]),
        ...(taken || this.resolved(node).concat(this.contextual(up, true))).map((one) => [one, 2]),
      ];
    }
    if (taken) return taken.map((one) => [one, 0]);
    if (ts.isBindingElement(up) && up.name === node && !up.propertyName && !up.dotDotDotToken && ts.isObjectBindingPattern(up.parent)) {
      return [
        [this.checker.getSymbolAtLocation(node), 1],
        ...this.roots(this.checker.getPropertyOfType(this.checker.getTypeAtLocation(up.parent), node.text)).map((one) => [one, 2]),
      ];
    }
    const own = this.resolved(node);
    const isMember = (ts.isPropertyAssignment(up) || ts.isMethodDeclaration(up) || ts.isAccessor(up)) && up.name === node;
    const more = isMember && ts.isObjectLiteralExpression(up.parent) ? this.contextual(up, true) : [];
    return own.concat(more).map((one) => [one, 0]);
  }

  // The property that an attribute sets, or that `({name: target} = value)` takes; undefined elsewhere.
  taken(node) {
    const up = node.parent;
    if (ts.isJsxAttribute(up) && up.name === node) {
      const type = this.checker.getContextualType(up.parent);
      const own = this.roots(type && this.checker.getPropertyOfType(type, node.text));
      return own.length ? own : undefined;
    }
    const isPart = (ts.isPropertyAssignment(up) || ts.isShorthandPropertyAssignment(up)) && up.name === node;
    if (!isPart || !ts.isArrayLiteralOrObjectLiteralDestructuringPattern(up.parent)) return undefined;
    return this.roots(this.checker.getPropertySymbolOfDestructuringAssignment(node));
  }

  resolved(node) {
    const up = node.parent;
    if (ts.isExportSpecifier(up) && !up.parent.parent.moduleSpecifier) {
      const target = this.checker.getExportSpecifierLocalTargetSymbol(up);
      if (up.propertyName === node) return this.aliases(target);
      const own = this.checker.getSymbolAtLocation(up.name);
      return up.propertyName ? [own, ...this.aliases(target)] : this.aliases(target);
    }
    return this.aliases(this.checker.getSymbolAtLocation(node), node);
  }

  // A symbol, and the one that it is an alias for. An alias of the same name is no symbol of its own.
  aliases(symbol, node) {
    const found = [];
    for (let steps = 0; symbol && symbol.flags & ts.SymbolFlags.Alias && steps < 20; steps += 1) {
      const next = this.checker.getImmediateAliasedSymbol(symbol);
      const target = this.checker.getAliasedSymbol(symbol);
      if (!target || target.escapedName === 'unknown' || target.flags & ts.SymbolFlags.Module && !(target.flags & ~ts.SymbolFlags.Module)) {
        return [...found, symbol];
      }
      const wholly = symbol.declarations?.some((one) => ts.isNamespaceImport(one) || ts.isNamespaceExport(one) || ts.isImportEqualsDeclaration(one)
        // `module.exports = {a}`, whatever stands beside it, `exports.a = a` and `const {a} = require(…)`: a property and a variable.
        // `const a = require(…).a`, too.
        || ts.isVariableDeclaration(one) || ts.isShorthandPropertyAssignment(one) || ts.isBindingElement(one) || ts.isPropertyAccessExpression(one) || ts.isBinaryExpression(one));
      if (wholly) return [...found, symbol];
      const names = new Set((target.declarations || []).map((one) => name(one)?.text).filter(Boolean));
      const isRenamed = !names.has(symbol.name) || symbol.declarations?.some(ts.isImportClause);
      if (isRenamed && (!node || symbol.name === node.text)) found.push(symbol);
      symbol = next;
    }
    return found.concat(this.roots(symbol));
  }

  roots(symbol) {
    if (!symbol) return [];
    const roots = this.checker.getRootSymbols(symbol).filter((one) => one.name === symbol.name); // a mapped type may give others
    return roots.length ? roots : [symbol];
  }

  // The members of the expected type that a member of an object literal is; `surely`: of those of a union that it fits.
  contextual(member, surely = false) {
    const type = this.checker.getContextualType(member.parent);
    if (!type || !member.name || !(ts.isIdentifier(member.name))) return [];
    const every = type.isUnion() ? type.types : [type];
    const own = surely && every.length > 1 ? this.checker.getTypeAtLocation(member.parent) : undefined;
    const types = own ? every.filter((one) => this.checker.isTypeAssignableTo(own, one)) : every;
    return types.flatMap((one) => this.roots(this.checker.getPropertyOfType(one, member.name.text)));
  }

  id(symbol) {
    if (!symbol) return '';
    if (this.ids.has(symbol)) return this.ids.get(symbol);
    const declared = (symbol.declarations || []).map((one) => [one, name(one)]).filter(([, node]) => node && (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && node.text !== 'this'); // a parameter for its type
    this.ids.set(symbol, '');
    if (!declared.length) return '';
    const places = declared.map(([, node]) => this.place(node.getSourceFile(), begins(node)));
    const [first, node] = declared[0];
    const [file, line, character] = places[0];
    const id = `${this.files[file]}#${line}:${character}`;
    this.ids.set(symbol, id);
    if (!this.symbols.has(id)) {
      const kind = kindOf(first);
      this.symbols.set(id, {
        id, name: spelled(node), kind, uses: [], allowed: [], calls: [], forms: [], where: places.flat(), derived: [], passed: [],
        package: this.files[file], owner: owner(first), generic: !!first.typeParameters?.length, outside: this.files[file].startsWith('/'),
        exported: !!(ts.getCombinedModifierFlags(first) & ts.ModifierFlags.Export) && !(ts.getCombinedModifierFlags(first) & ts.ModifierFlags.Default),
      });
      this.relate(symbol, first, id);
    }
    return id;
  }

  // A member and those of the same name that it overrides, or implements, or is a literal's form of.
  relate(symbol, declaration, id) {
    const parent = declaration.parent;
    if (!parent) return;
    if (ts.isObjectLiteralExpression(parent)) {
      for (const one of this.contextual(declaration)) this.join(id, this.id(one));
    }
    if (ts.isParameter(declaration) && ts.isParameterPropertyDeclaration(declaration, parent)) {
      for (const one of this.checker.getSymbolsOfParameterPropertyDeclaration(declaration, declaration.name.text)) this.ids.set(one, id);
      for (const above of this.bases(parent.parent)) for (const one of this.roots(this.checker.getPropertyOfType(above, symbol.name))) this.join(id, this.id(one));
    }
    if (!ts.isClassLike(parent) && !ts.isInterfaceDeclaration(parent)) return;
    const isStatic = ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Static;
    if (isStatic) return;
    for (const above of this.bases(parent)) for (const one of this.roots(this.checker.getPropertyOfType(above, symbol.name))) this.join(id, this.id(one));
  }

  bases(node) {
    return (node.heritageClauses || []).flatMap((clause) => clause.types.map((one) => this.checker.getTypeAtLocation(one)));
  }

  heritage(node) {
    const derived = this.id(this.checker.getSymbolAtLocation(node.name));
    for (const clause of node.heritageClauses || []) {
      for (const one of clause.types) {
        const [base] = this.resolved(ts.isPropertyAccessExpression(one.expression) ? one.expression.name : one.expression).slice(-1);
        const id = base && this.id(base);
        if (id && ts.isClassLike(node)) this.below.push([id, derived]);
        if (id && ts.isInterfaceDeclaration(node)) this.below.push([id, `=${derived}`]);
      }
    }
  }

  root(id) {
    let at = id;
    while (this.above.has(at)) at = this.above.get(at);
    return at;
  }

  join(one, other) {
    if (!one || !other) return;
    const [left, right] = [this.root(one), this.root(other)];
    if (left !== right) this.above.set(left, right);
  }
}

function name(declaration) {
  if (ts.isExportAssignment(declaration) || ts.isSourceFile(declaration)) return undefined;
  return ts.getNameOfDeclaration(declaration);
}

// The word of a name: `x` of `#x` and `$x`.
function spelled(node) {
  return node.text.slice(marks(node));
}

function begins(node) {
  return node.getStart() + marks(node);
}

function marks(node) {
  return /^(?:[#$]+(?=\w))?/.exec(node.text)[0].length;
}

function called(node) {
  let at = node;
  if (ts.isPropertyAccessExpression(at.parent) && at.parent.name === at) at = at.parent;
  return ts.isCallExpression(at.parent) && at.parent.expression === at;
}

function owner(declaration) {
  const up = declaration.parent;
  return up && (ts.isClassLike(up) || ts.isInterfaceDeclaration(up) || ts.isEnumDeclaration(up)) && up.name ? up.name.text : '';
}

function isLocal(declaration) {
  for (let at = declaration.parent; at && !ts.isSourceFile(at); at = at.parent) if (ts.isFunctionLike(at) || ts.isBlock(at)) return true;
  return false;
}

function loads(declaration) {
  return ts.isIdentifier(declaration.name) && isRequire(declaration.initializer, declaration.getSourceFile());
}

function kindOf(declaration) {
  const {SyntaxKind: kind} = ts;
  switch (declaration.kind) {
    case kind.FunctionDeclaration: case kind.FunctionExpression: return isLocal(declaration) ? 'local' : 'function';
    case kind.MethodDeclaration: case kind.MethodSignature: case kind.GetAccessor: case kind.SetAccessor:
      return owner(declaration) ? 'method' : 'member';
    case kind.PropertyDeclaration: case kind.PropertySignature: return owner(declaration) ? 'field' : 'member';
    case kind.PropertyAssignment: case kind.ShorthandPropertyAssignment: return 'member';
    case kind.PropertyAccessExpression: case kind.ElementAccessExpression: case kind.BinaryExpression: return 'member';
    case kind.ClassDeclaration: return isLocal(declaration) ? 'local' : 'class';
    case kind.InterfaceDeclaration: return 'interface';
    case kind.TypeAliasDeclaration: return isLocal(declaration) ? 'local' : 'type';
    case kind.EnumDeclaration: return 'enum';
    case kind.EnumMember: return 'const';
    case kind.TypeParameter: return 'typeparam';
    case kind.Parameter: return ts.isParameterPropertyDeclaration(declaration, declaration.parent) ? 'field' : 'local';
    // What a module is loaded into is a name for what that declares.
    case kind.VariableDeclaration: return isLocal(declaration) ? 'local' : loads(declaration) ? 'alias' : 'var';
    case kind.ImportSpecifier: case kind.ImportClause: case kind.NamespaceImport: case kind.ExportSpecifier: return 'alias';
    default: return 'local';
  }
}

readline.createInterface({input: process.stdin}).on('line', (line) => {
  const {dir, only} = JSON.parse(line);
  try {
    const made = program(dir);
    const reader = new Reader(made, dir);
    const answer = only === 'errors' ? {broken: errors(made, (one) => reader.inside(one))} : reader.read();
    fs.writeSync(1, `${JSON.stringify(answer)}\n`);
  } catch (error) {
    fs.writeSync(1, `${JSON.stringify({error: String(error.stack || error)})}\n`);
  }
});
